"""What the claims are checked by."""
