"""The checks behind the claims, by figure: from evidence to verdict."""
