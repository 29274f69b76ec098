"""Checks: from evidence to a verdict, one per claim."""
