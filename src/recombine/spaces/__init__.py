"""Factors, cells and splits: what may be combined, and which combinations training shows."""

from recombine.spaces.factors import Factor, Space
from recombine.spaces.holes import (
    Hole,
    centre_hole,
    corner_hole,
    cross_hole,
    fraction_hole,
    masked_hole,
    random_hole,
    split_by_hole,
)
from recombine.spaces.splits import Split
from recombine.spaces.supports import diagonal, in_l_shape, l_shaped, near_diagonal

__all__ = [
    "Factor",
    "Hole",
    "Space",
    "Split",
    "centre_hole",
    "corner_hole",
    "cross_hole",
    "diagonal",
    "fraction_hole",
    "in_l_shape",
    "l_shaped",
    "masked_hole",
    "near_diagonal",
    "random_hole",
    "split_by_hole",
]
