"""Functions of latents in slots, with a known order of interaction."""
