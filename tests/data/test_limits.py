"""Limits on what a user's data may ask for."""

import numpy as np
import pytest

from recombine import InputError, advise, audit
from recombine.data.limits import MAX_MAGNITUDE, check_magnitude
from recombine.data.nets import read_net

FACTORS = {"a": [0, 0, 1, 1, 2, 2], "b": [0, 1, 0, 1, 0, 1]}
SEEN = np.array([True, True, True, False, True, True])


def test_numbers_up_to_the_limit_pass():
    check_magnitude("target", np.array([0.0, -MAX_MAGNITUDE, MAX_MAGNITUDE]))
    check_magnitude("target", np.array([2**62]))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (1.6e308, "target: got 'a number beyond 1e\\+150 in row 2', expected finite numbers, rescaled"),
        (np.inf, "target: got 'a value that is not finite in row 2', expected finite numbers"),
        (np.nan, "target: got 'a value that is not finite in row 2', expected finite numbers"),
    ],
)
def test_numbers_whose_squares_overflow_are_refused(bad, message):
    with pytest.raises(InputError, match=message):
        check_magnitude("target", np.array([0.0, bad, 1.0]))


def test_advice_and_audit_refuse_them():
    target = np.array([-8e307, 0.0, 1e308, 2.0, 3.0, 4.0])
    with pytest.raises(InputError, match="target: got 'a number beyond"):
        advise(factors=FACTORS, seen=SEEN, target=target)
    with pytest.raises(InputError, match="target: got 'a number beyond"):
        audit(factors=FACTORS, seen=SEEN, target=target, prediction=np.full(6, 0.5))


def test_a_single_number_is_not_a_net():
    with pytest.raises(InputError, match="weights: got 'a single number', expected a list of matrices"):
        read_net(np.array(3))
