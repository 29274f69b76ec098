"""Additions: the fewest cells to add to training, so that it determines the others, or so that a margin is right."""
