"""Which values annotations allow."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from recombine import Part, Recipe
from recombine.sweeps.annotations import evaluated, fits, refusal
from recombine.training import adam

PART = Part("math:sqrt")


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [3, -1], [3.0, True, "3", None, (3,), PART]),
        (float, [3, 3.0], [True, "3", None]),
        (bool, [True], [1, "True"]),
        (str, [""], [3, None]),
        (None, [None], [0]),
        (int | None, [3, None], [3.5, "none"]),
        (Literal["a", 1], ["a", 1], ["b", True, 1.0]),
        (Part, [PART], [3, "math:sqrt"]),
        (Part | None, [PART, None], [3]),
        (Callable[..., Any], [PART], [3, "relu", (1,)]),
        (int | Sequence[int], [3, (3, 4), ()], ["a", (3, "4"), 3.5]),
        (tuple[int, str], [(1, "a")], [(1,), (1, 2), ("a", 1)]),
        (tuple[float, ...], [(), (1, 2.5)], [1, ("a",)]),
        (Iterable, [(1, "a")], [3]),
        (np.ndarray | None, [(1, 2), None, PART], [3, "a"]),
        (tuple[Recipe, ...], [()], [(3,), 3]),
        (type(adam()), [adam()], [3, "adam"]),
        (Any, [3, "a", None, PART], []),
        (object, [3], []),
        ("not a type", [3, "a"], []),
    ],
)
def test_values(annotation, good, bad):
    assert [value for value in good if not fits(annotation, value)] == []
    assert [value for value in bad if fits(annotation, value)] == []
    assert all(refusal(annotation, value) is None for value in good)
    assert all(refusal(annotation, value) for value in bad)


def test_annotations_that_cannot_be_read_allow_anything():
    def function(a: "int", b: "NoSuchName", c: "1 +"):
        pass

    assert evaluated(function, function.__annotations__) == {"a": int}
