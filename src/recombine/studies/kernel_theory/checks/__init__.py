"""The checks behind the claims: from evidence to verdict."""
