"""Penalties of finetuning and multi-task learning: published values, limits, and gradient descent as a second route."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import InputError
from recombine.theory import (
    DiagonalPenalty,
    DiagonalWeights,
    finetuning_dependence,
    finetuning_order,
    group_norm,
    hypentropy,
    hypentropy_slope,
    multi_task_dependence,
    multi_task_order,
    multi_task_penalty,
    plotted_penalty,
    unit_penalty,
)

AUX = np.array([0.001, 0.01, 0.1, 1, 10, 100])
sizes = st.floats(1e-3, 1e3)


def test_orders_have_the_published_values():
    np.testing.assert_allclose(
        finetuning_order(1.0, AUX), [1.1370, 1.1991, 1.3474, 1.7486, 1.9935, 2], atol=1e-4
    )
    plotted = finetuning_order(1.0, 2 * AUX)  # twice the exact penalty with twice the coefficient
    np.testing.assert_allclose(plotted, [1.1513, 1.2298, 1.4323, 1.8867, 1.9983, 2], atol=1e-4)
    np.testing.assert_allclose(
        multi_task_order(1.0, AUX), [1.0010, 1.0100, 1.0995, 1.7071, 1.9950, 1.99995], atol=1e-4
    )


def test_penalties_have_the_published_values():
    aux = np.array([1e-3, 1, 1e3])
    np.testing.assert_allclose(
        plotted_penalty(1.0, aux, readout=1e-3), [13.2018, 0.934319, 9.99999916e-4], rtol=1e-5
    )
    np.testing.assert_allclose(multi_task_penalty(1.0, aux), [0.99900, 0.41421, 4.99999875e-4], rtol=1e-5)
    assert group_norm([[3.0, 0.0], [4.0, 2.0]]) == pytest.approx(7)


@pytest.mark.parametrize(
    ("cosine", "values", "orders"),
    [
        (1, [1.9375, 0.66950, 0.00100], [1.0159, 1.1698, 1.5680, 1.9809, 1.9998]),
        (0.99, [1.9381, 0.69705, 19.901], [1.0158, 1.1664, 1.5180, 0.6667, 0.0102]),
        (0.95, [1.9407, 0.80618, 97.501], [1.0151, 1.1531, 1.3544, 0.1996, 0.0023]),
        (0.9, [1.9439, 0.94021, 190.00], [1.0142, 1.1373, 1.2071, 0.1186, 0.0013]),
        (0.5, [1.9693, 1.9286, 750.00], [1.0076, 1.0364, 0.7804, 0.0819, 0.0011]),
        (0, [2.0010, 3.0000, 1002.0], [0.9995, 0.9524, 0.6667, 0.1667, 0.0196]),
    ],
)
def test_units_have_the_published_values(cosine, values, orders):
    found = unit_penalty(np.ones(3), np.array([1e-3, 1, 1e3]), cosine).value
    np.testing.assert_allclose(found, values, rtol=6e-5)
    found = unit_penalty(np.ones(5), np.array([1e-3, 0.1, 1, 10, 100]), cosine).order
    np.testing.assert_allclose(found, orders, atol=6e-5)


@given(sizes, sizes, st.sampled_from([1.0, 0.9, 0.5, 0.0, -0.5]))
def test_order_and_feature_dependence_add_up_to_one(beta, aux, cosine):
    assert finetuning_order(beta, aux) + finetuning_dependence(beta, aux) == pytest.approx(1, abs=1e-12)
    assert multi_task_order(beta, aux) + multi_task_dependence(beta, aux) == pytest.approx(1, abs=1e-12)
    unit = unit_penalty(beta, aux, cosine)
    assert unit.order + unit.dependence == pytest.approx(1, abs=1e-9)


@given(sizes, sizes)
def test_orders_are_logarithmic_derivatives(beta, aux):
    h = 1e-5
    up, down = np.exp(h), np.exp(-h)
    for penalty, order, dependence in (
        (hypentropy, finetuning_order, finetuning_dependence),
        (multi_task_penalty, multi_task_order, multi_task_dependence),
        (
            lambda b, a: unit_penalty(b, a, 0.7).value,
            lambda b, a: unit_penalty(b, a, 0.7).order,
            lambda b, a: unit_penalty(b, a, 0.7).dependence,
        ),
    ):
        slope = np.log(penalty(beta * up, aux) / penalty(beta * down, aux)) / (2 * h)
        assert order(beta, aux) == pytest.approx(slope, abs=1e-6)
        slope = np.log(penalty(beta, aux * up) / penalty(beta, aux * down)) / (2 * h)
        assert dependence(beta, aux) == pytest.approx(slope, abs=1e-6)


def test_a_known_but_misaligned_unit_is_a_burden():
    small = unit_penalty(1e-6, 4.0, np.array([0.5, 0.0, -0.5]))
    np.testing.assert_allclose(
        small.value, [3, 4, 4], rtol=1e-3
    )  # (1 - cos²) aux, and aux from a right angle on
    np.testing.assert_allclose(small.order, 0, atol=1e-3)


def test_a_readout_that_does_not_start_at_zero_saves_distance():
    near = unit_penalty(1.0, 1.0, 1.0, readout=1.0)
    assert near.value == pytest.approx(0, abs=1e-12)
    grid = np.linspace(0.05, 3, 20001)
    for beta, aux, cosine, readout in [(2.0, 0.5, 0.3, 0.4), (0.1, 3.0, -0.8, 0.7)]:
        distance = (beta / grid - readout) ** 2 + grid**2 + aux - 2 * grid * np.sqrt(aux) * cosine
        found = unit_penalty(beta, aux, cosine, readout=readout)
        assert found.value == pytest.approx(distance.min(), rel=1e-4)


@given(st.floats(-1e8, 1e8), st.floats(1e-12, 1e6))
def test_the_slope_is_the_derivative_of_the_penalty(beta, c):
    h = 1e-4 * max(abs(beta), 1e-3 * c)
    numeric = (hypentropy(beta + h, c) - hypentropy(beta - h, c)) / (2 * h)
    assert numeric == pytest.approx(float(hypentropy_slope(beta, c)), rel=1e-6, abs=1e-6)


def test_limits_without_overflow_or_cancellation():
    assert hypentropy(1e-9, 1.0) == pytest.approx(1e-18, rel=1e-12)
    assert hypentropy(1e-200, 1e-100) == pytest.approx(1e-300, rel=1e-12)
    assert hypentropy(1e300, 1e-300) == pytest.approx(1e300 * (np.log(4) + 600 * np.log(10) - 1), rel=1e-12)
    assert hypentropy(0.0, 0.0) == 0
    assert hypentropy(1.0, 0.0) == np.inf


def test_weights_after_training_have_the_closed_form():
    """w+² + w-² = sqrt(beta² + (aw² + av²)²) + (aw² - av²)."""
    beta = np.array([1.3, -0.4, 0.0, 1e-3])
    for w, v in [(0.3, 0.1), (0.1, 0.3), (0.05, 0.05), (1e-3, 1e-3)]:
        start = DiagonalWeights.constant(4, w=w, v=v)
        trained = start.trained_to(beta)
        np.testing.assert_allclose(trained.coefficients, beta, atol=1e-13)
        squares = trained.w_plus**2 + trained.w_minus**2
        np.testing.assert_allclose(squares, np.sqrt(beta**2 + (w**2 + v**2) ** 2) + w**2 - v**2, rtol=1e-10)
        np.testing.assert_allclose(trained.conserved, start.conserved, atol=1e-12)


def descended(weights, x, y, *, rate, steps):
    w, v, p, q = (a.copy() for a in (weights.w_plus, weights.v_plus, weights.w_minus, weights.v_minus))
    for _ in range(steps):
        slope = 2 * x.T @ (x @ (w * v - p * q) - y) / len(y)
        w, v, p, q = (
            w - rate * slope * v,
            v - rate * slope * w,
            p + rate * slope * q,
            q + rate * slope * p,
        )
    return DiagonalWeights(w, v, p, q)


def test_gradient_descent_keeps_its_promises():
    """The conserved differences drift little, and the trained weights are those of the closed form."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 6))
    beta = np.array([1.0, -0.7, 0.4, 0.0, 0.0, 0.2])
    start = DiagonalWeights.constant(6, w=0.3, v=0.1)
    ended = descended(start, x, x @ beta, rate=1e-3, steps=40_000)
    assert np.abs(ended.conserved / start.conserved - 1).max() < 0.01
    np.testing.assert_allclose(ended.coefficients, beta, atol=1e-5)
    np.testing.assert_allclose(ended.w_plus, start.trained_to(beta).w_plus, rtol=1e-2)


def test_a_dead_coefficient_stays_zero_and_a_one_sided_one_keeps_its_sign():
    dead = DiagonalPenalty(np.zeros(1), np.zeros(1))
    assert dead.value(np.array([0.0])) == 0
    assert dead.value(np.array([0.1])) == np.inf
    one_sided = DiagonalPenalty(np.array([4.0]), np.array([0.0]))
    assert one_sided.value(np.array([-0.1])) == np.inf
    assert one_sided.value(np.array([1.0])) == pytest.approx(-1)  # beta (ln(4 beta / A) - 1)
    assert one_sided.coefficients(np.array([0.0])) == 1


def test_regimes():
    weights = DiagonalWeights.constant(3, w=1e-3, v=1e-3).trained_to([1.0, 1.0, 0.0]).with_readout(1e-3)
    beta = np.array([0.1, 0.1, 0.1])
    assert weights.penalty().regimes(beta).tolist() == ["lazy", "lazy", "rich"]
    assert weights.rescaled(0.1).penalty().regimes(beta).tolist() == ["nested", "nested", "rich"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DiagonalWeights([1], [1, 2], [1], [1]), "four vectors of the same length"),
        (lambda: DiagonalWeights([np.nan], [1], [1], [1]), "w_plus: got 'NaN or infinity'"),
        (lambda: DiagonalWeights.constant(2, w=1, v=1).rescaled(0), "scale: got 0"),
        (lambda: DiagonalWeights.constant(2, w=1, v=1).rescaled(-1.0), "scale: got -1.0"),
        (lambda: DiagonalWeights.constant(2, w=1, v=1).trained_to([1.0]), "one per feature"),
        (lambda: unit_penalty(1.0, 1.0, 1.5), "cosine: got 1.5"),
        (lambda: unit_penalty(-1.0, 1.0), "beta above 0"),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_penalties_of_nan_are_refused():
    with pytest.raises(InputError, match="beta, aux"):
        unit_penalty(np.array([np.nan]), 1.0)
    with pytest.raises(InputError, match="beta: got 'NaN or infinity'"):
        DiagonalWeights.constant(2, w=0.1, v=0.1).penalty().regimes(np.array([1.0, np.nan]))
