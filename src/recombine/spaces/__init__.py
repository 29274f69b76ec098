"""Factors, cells and splits: what may be combined, and which combinations training shows."""

from recombine.spaces.factors import Factor, Space
from recombine.spaces.splits import (
    Split,
    centre_hole,
    corner_hole,
    cross_hole,
    fraction_hole,
    masked_hole,
    random_hole,
)

__all__ = [
    "Factor",
    "Space",
    "Split",
    "centre_hole",
    "corner_hole",
    "cross_hole",
    "fraction_hole",
    "masked_hole",
    "random_hole",
]
