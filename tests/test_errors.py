from __future__ import annotations

from recombine.errors import InputError, StoreError


def test_one_line_with_field_value_and_expectation() -> None:
    error = InputError("sigma", -1.0, "a positive number of pixels")
    assert str(error) == "sigma: got -1.0, expected a positive number of pixels"
    assert (error.field, error.got, error.expected) == ("sigma", -1.0, "a positive number of pixels")
    assert isinstance(error, ValueError)
    assert issubclass(StoreError, OSError)
