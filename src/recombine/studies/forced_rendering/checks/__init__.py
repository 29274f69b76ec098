"""The checks behind the claims, by figure: each maps the evidence to a verdict."""
