from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part

NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.builds(lambda value: Part("math:isclose", rel_tol=value), inner)
    ),
    max_leaves=8,
)


@given(settings=st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), PLAIN, max_size=4))
def test_a_part_survives_json_and_keeps_its_identity(settings: dict[str, Any]) -> None:
    part = Part("math:isclose", **settings)
    again = Part.from_dict(json.loads(json.dumps(part.to_dict())))
    assert again == part
    assert hash(again) == hash(part)


def test_order_of_settings_does_not_matter_but_values_do() -> None:
    assert Part("m:f", a=1, b=(2, 3)) == Part("m:f", b=[2, 3], a=1)
    assert Part("m:f", a=1) != Part("m:f", a=2)
    assert Part("m:f", a=1)["a"] == 1


def test_calling() -> None:
    part = Part(math.isclose, rel_tol=0.5)
    assert part.name == "math:isclose"
    assert part.function is math.isclose
    assert part(1.0, 1.4)
    assert not Part(math.isclose)(1.0, 1.4)
    assert Part("recombine.parts:Part.from_dict")({"call": "m:f", "with": {}}) == Part("m:f")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Part(lambda: 0), "function: got"),
        (lambda: Part("math.isclose"), "function: got 'math.isclose', expected something importable"),
        (lambda: Part("m:f", a={1: 2}), "m:f a: got {1: 2}, expected a number, string"),
        (lambda: Part("m:f", a=[1.0, float("nan")]), "m:f a[1]: got nan, expected a finite number"),
        (lambda: Part("no_such_module:f")(), "function: got 'no_such_module:f', expected an importable name"),
        (
            lambda: Part("math:nothing")(),
            "function: got 'math:nothing', expected an importable name",
        ),
    ],
)
def test_errors(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(message)
