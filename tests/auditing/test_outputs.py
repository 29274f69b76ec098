"""Logarithms of predictions that have none."""

import numpy as np
import pytest

from recombine.auditing.output_reading import read_outputs
from recombine.auditing.outputs import measured_by


def test_every_output_has_its_own_smallest_logarithm():
    targets = np.array([[2.0, 3e6], [4.0, 5e6], [8.0, 9e6]])
    predictions = np.array([[2.0, 3e6], [-1.0, 0.0], [8.0, 1e-9]])
    outputs = measured_by(read_outputs(targets, predictions), "log")
    shown = outputs.as_given(outputs.predictions)
    assert shown == pytest.approx(np.array([[2.0, 3e6], [2e-3, 3e3], [8.0, 3e3]]))
    note = "2 predictions are too small for a logarithm and count as 0.002 to 3e+03, 0.001 times the smallest target"
    assert outputs.notes[-1] == f"{note} of each output"


def test_the_smallest_logarithm_is_named_in_the_units_of_the_targets():
    targets, predictions = np.array([2e-200, 3e-200, 5e-200]), np.array([2e-200, 0.0, 5e-200])
    outputs = measured_by(read_outputs(targets, predictions), "log")
    assert outputs.unit == 1e-200
    assert outputs.notes[-1] == "1 prediction is too small for a logarithm and counts as 2e-203"
