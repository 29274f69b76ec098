"""Audits of any model on combinations that it never saw."""
