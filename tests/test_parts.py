from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
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


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("recombine.tasks.bumps.grid_positions:bumps", "recombine.tasks:bumps"),
        ("recombine.tasks:bumps", "recombine.tasks:bumps"),
        ("recombine.training.loop:fit", "recombine.training:fit"),  # loaded on first use
        ("recombine:fit", "recombine.training:fit"),
        ("recombine:Space", "recombine.spaces:Space"),
        ("recombine.tasks.scenes.sprites:PUBLISHED", "recombine.tasks:PUBLISHED_SPRITES"),
        ("recombine.parts:Part.from_dict", "recombine.parts:Part.from_dict"),
        ("recombine.training.recipe:Recipe.structure", "recombine.training:Recipe.structure"),
        ("recombine.probes.decoders:superposition", "recombine.probes:superposition"),
        ("recombine.probes.decoders:cell_rows", "recombine.probes.decoders:cell_rows"),
        ("recombine.nowhere:nothing", "recombine.nowhere:nothing"),
    ],
)
def test_parts_have_public_names(name: str, public: str) -> None:
    assert Part(name).name == public


def test_a_function_and_its_names_are_one_part() -> None:
    from recombine.tasks import bumps

    assert Part(bumps, n=8) == Part("recombine.tasks:bumps", n=8)
    assert Part(bumps).function is bumps


def test_every_public_name_leads_to_the_object_that_it_names() -> None:
    """What is read from source files agrees with what Python imports."""
    for package in ("nets", "probes", "remedies", "spaces", "tasks", "theory", "training"):
        module = importlib.import_module(f"recombine.{package}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", "").startswith("recombine"):
                part = Part(value) if hasattr(value, "__qualname__") else Part(f"recombine.{package}:{name}")
                assert part.function is value
                assert Part(f"recombine.{package}:{name}") == part


def test_names_are_found_without_importing() -> None:
    code = (
        "import sys; from recombine.parts import Part; "
        "Part('recombine.nets.convnet:cnn_decoder'); Part('recombine.training.loop:fit'); "
        "sys.exit(bool({'jax', 'numpy', 'recombine.nets', 'recombine.training'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
