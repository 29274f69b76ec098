"""Scores of classes: their calibration, and how often the target is among the first classes."""
