"""Brady et al. 2025: interaction asymmetry, a principle for composable abstractions."""
