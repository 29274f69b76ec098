"""Free text as predictions: answers become labels or scores by row, and are scored factor by factor."""
