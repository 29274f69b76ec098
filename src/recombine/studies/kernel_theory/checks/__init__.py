"""The checks behind the claims: each maps the evidence to a verdict."""
