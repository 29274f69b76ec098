"""Figures in one look: maps, curves, grids of images, seeds as points, matrices."""
