"""PyTorch modules: running them with hooks, in eval mode, and differentiating them; each is left as it was.

Nothing in `recombine` imports this package before a model is a PyTorch module or `recombine.torch` is imported.
"""
