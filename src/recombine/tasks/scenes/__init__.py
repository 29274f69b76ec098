"""Scenes of several objects, with masks, true recombinations and held-out supports."""
