"""Encoders, decoders and autoencoders whose latents come in slots."""
