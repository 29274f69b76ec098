"""Layers by name: dense, convolution, normalisation, activations, attention, noise, residual blocks."""
