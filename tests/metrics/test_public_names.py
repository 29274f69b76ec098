"""The package exports every public function of its modules, and each has an example and says what it returns."""

import importlib
import inspect
from pathlib import Path

import pytest

import recombine.metrics

MODULES = sorted(p.stem for p in Path(recombine.metrics.__file__).parent.glob("*.py") if p.stem != "__init__")
HELPERS = {"as_units", "check_polarity", "same_shape", "unit_blocks"}


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_exported(name):
    module = importlib.import_module(f"recombine.metrics.{name}")
    for attribute, value in vars(module).items():
        own = (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module.__name__
        if own and not attribute.startswith("_") and attribute not in HELPERS:
            assert getattr(recombine.metrics, attribute, None) is value, attribute
            assert attribute in recombine.metrics.__all__


@pytest.mark.parametrize("name", recombine.metrics.__all__)
def test_every_function_has_an_example(name):
    value = getattr(recombine.metrics, name)
    if inspect.isfunction(value):
        assert f"import {name}\n" in value.__doc__ or f", {name}\n" in value.__doc__, (
            "an example that imports it"
        )
