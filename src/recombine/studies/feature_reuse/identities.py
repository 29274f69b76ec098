"""Closed forms and exact statements, each checked by a second route."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from recombine.metrics import participation_ratio, shared_dimensions
from recombine.tasks import sphere_inputs
from recombine.theory import (
    DiagonalWeights,
    finetuning_dependence,
    finetuning_order,
    group_norm,
    hypentropy,
    hypentropy_slope,
    min_diagonal_penalty,
    min_group_norm,
    multi_task_dependence,
    multi_task_order,
    multi_task_penalty,
    plotted_penalty,
    unit_penalty,
)

Values = dict[str, Any]
AUX = np.array([1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0])
ORDERS = {
    "finetuning, plotted": [1.1123, 1.1513, 1.2298, 1.4323, 1.8867, 1.9983, 2.0],
    "multi-task": [1.0001, 1.0010, 1.0100, 1.0995, 1.7071, 1.9950, 1.99995],
}
"""Published orders at beta = 1 against the auxiliary magnitude."""
EXACT_ORDERS = [1.1370, 1.1991, 1.3474, 1.7486, 1.9935, 2.0]
"""Those of the exact penalty, from 1e-3 on."""
UNITS = {
    1.0: ([1.9375, 0.66950, 0.00100], [1.0159, 1.1698, 1.5680, 1.9809, 1.9998]),
    0.99: ([1.9381, 0.69705, 19.901], [1.0158, 1.1664, 1.5180, 0.6667, 0.0102]),
    0.95: ([1.9407, 0.80618, 97.501], [1.0151, 1.1531, 1.3544, 0.1996, 0.0023]),
    0.9: ([1.9439, 0.94021, 190.00], [1.0142, 1.1373, 1.2071, 0.1186, 0.0013]),
    0.5: ([1.9693, 1.9286, 750.00], [1.0076, 1.0364, 0.7804, 0.0819, 0.0011]),
    0.0: ([2.0010, 3.0000, 1002.0], [0.9995, 0.9524, 0.6667, 0.1667, 0.0196]),
}
"""Penalties of a rectified unit at auxiliary magnitudes 0.001, 1 and 1000, and orders at 0.001, 0.1, 1, 10 and 100."""


def closed_forms(seed: int) -> Values:
    """Deviations of penalties and orders from their published values, and of the slope from finite differences."""
    orders = {"finetuning, plotted": finetuning_order(1.0, 2 * AUX), "multi-task": multi_task_order(1.0, AUX)}
    off = [float(np.abs(found - ORDERS[name]).max()) for name, found in orders.items()]
    off.append(float(np.abs(finetuning_order(1.0, AUX[1:]) - EXACT_ORDERS).max()))
    at_one = np.array([1e-3, 1.0, 1e3])
    plotted = plotted_penalty(1.0, at_one, readout=1e-3) / [13.2018, 0.934319, 9.99999916e-4] - 1
    shared = multi_task_penalty(1.0, at_one) / [0.99900, 0.41421, 4.99999875e-4] - 1
    units = []
    for cosine, (values, expected) in UNITS.items():
        units.append(np.abs(unit_penalty(np.ones(3), at_one, cosine).value / values - 1).max())
        found = unit_penalty(np.ones(5), np.array([1e-3, 0.1, 1, 10, 100]), cosine).order
        units.append(np.abs(found - expected).max())
    beta, c = np.meshgrid(np.logspace(-3, 3, 13), np.logspace(-3, 3, 13))
    step = 1e-5 * beta
    slope = (hypentropy(beta + step, c) - hypentropy(beta - step, c)) / (2 * step)
    return {
        "orders": max(off),
        "penalties": float(max(np.abs(plotted).max(), np.abs(shared).max())),
        "units": float(max(units)),
        "slope": float(np.abs(slope - hypentropy_slope(beta, c)).max()),
    }


def conservation(seed: int) -> Values:
    """The largest deviation of order + feature dependence from 1 on a grid of both magnitudes."""
    beta, aux = np.meshgrid(np.logspace(-3, 3, 25), np.logspace(-3, 3, 25))
    units = [unit_penalty(beta, aux, cosine) for cosine in (1.0, 0.9, 0.5, 0.0)]
    return {
        "finetuning": np.abs(finetuning_order(beta, aux) + finetuning_dependence(beta, aux) - 1).max(),
        "multi-task": np.abs(multi_task_order(beta, aux) + multi_task_dependence(beta, aux) - 1).max(),
        "units": max(float(np.abs(unit.order + unit.dependence - 1).max()) for unit in units),
    }


def conserved_weights(seed: int) -> Values:
    """Gradient descent at a small rate: drift of w² - v², and w+² + w-² after training against its closed form."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 6))
    beta = np.array([1.0, -0.7, 0.4, 0.0, 0.0, 0.2])
    drift, form = [], []
    for w, v in ((0.3, 0.1), (0.1, 0.3), (0.05, 0.05)):
        start = DiagonalWeights.constant(6, w=w, v=v)
        ended = _descended(start, x, x @ beta, rate=3e-4, steps=200_000)
        if w != v:
            drift.append(np.abs(ended.conserved / start.conserved - 1).max())
        squares = ended.w_plus**2 + ended.w_minus**2
        expected = np.sqrt(ended.coefficients**2 + (w**2 + v**2) ** 2) + w**2 - v**2
        form.append(np.abs(squares - expected).max() / expected.max())
    return {"drift": max(drift), "form": max(form)}


def _descended(
    weights: DiagonalWeights, x: np.ndarray, y: np.ndarray, *, rate: float, steps: int
) -> DiagonalWeights:
    w, v, p, q = (a.copy() for a in (weights.w_plus, weights.v_plus, weights.w_minus, weights.v_minus))
    gram, aim = 2 * x.T @ x / len(y), 2 * x.T @ y / len(y)
    for _ in range(steps):
        slope = rate * (gram @ (w * v - p * q) - aim)
        w, v, p, q = w - slope * v, v - slope * w, p + slope * q, q + slope * p
    return DiagonalWeights(w, v, p, q)


def limits_of_descent(seed: int) -> Values:
    """Trained diagonal networks against the programme: the largest relative difference of a coefficient.

    30 features, 10 rows, for several initial weights and readouts; `without_tilt` leaves out the linear term.
    """
    rng = np.random.default_rng([seed, 4])
    x = sphere_inputs(10, 30, rng)
    aux, main = np.zeros(30), np.zeros(30)
    aux[:8] = rng.choice([-1, 1], size=8) / np.sqrt(8)
    main[:3] = np.sign(aux[:3]) / 3
    main[20] = 0.2
    y = x @ main
    exact, untilted = [], []
    for initial in (1e-3, 0.1):
        for readout in (1e-3, 0.1, 0.5):
            start = DiagonalWeights.constant(30, w=initial, v=initial).trained_to(aux).with_readout(readout)
            trained = _trained(start, x, y)
            penalty = start.penalty()
            found = min_diagonal_penalty(x, y, penalty).coefficients
            exact.append(np.abs(trained - found).max() / np.abs(trained).max())
            if readout >= 0.1:
                flat = type(penalty)(penalty.c, penalty.c)
                found = min_diagonal_penalty(x, y, flat).coefficients
                untilted.append(np.abs(trained - found).max() / np.abs(trained).max())
    return {"exact": max(exact), "without_tilt": max(untilted)}


def _trained(weights: DiagonalWeights, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Full-batch gradient descent until the loss is below 1e-12."""
    w, v, p, q = (a.copy() for a in (weights.w_plus, weights.v_plus, weights.w_minus, weights.v_minus))
    for _ in range(400_000):
        error = x @ (w * v - p * q) - y
        if (error**2).mean() < 1e-12:
            break
        slope = 0.02 * x.T @ error / len(y)
        w, v, p, q = w - slope * v, v - slope * w, p + slope * q, q + slope * p
    return w * v - p * q


def multi_task_limit(seed: int) -> Values:
    """Two tasks in one network of 30 features: with weight decay taken to 0, and by plain gradient descent.

    `with_decay` and `plain` are the group norms that they reach, relative to the minimum; `coefficients` is the largest
    relative difference of a coefficient with decay, which can be large where the minimum is flat.
    """
    rng = np.random.default_rng([seed, 5])
    xs = [sphere_inputs(12, 30, rng), sphere_inputs(10, 30, rng)]
    betas = np.zeros((2, 30))
    betas[0, :8] = rng.choice([-1, 1], size=8) / np.sqrt(8)
    betas[1, 2:6] = np.sign(betas[0, 2:6]) / 2
    betas[1, 20] = 0.5
    ys = [x @ beta for x, beta in zip(xs, betas, strict=True)]
    best = min_group_norm(xs, ys)

    def coefficients(theta: np.ndarray) -> np.ndarray:
        w, p, v, q = theta[:30], theta[30:60], theta[60:120].reshape(2, 30), theta[120:].reshape(2, 30)
        return w * v - p * q

    def gradient(theta: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        w, p, v, q = theta[:30], theta[30:60], theta[60:120].reshape(2, 30), theta[120:].reshape(2, 30)
        parts = [
            (slopes * v).sum(axis=0),
            -(slopes * q).sum(axis=0),
            (slopes * w).ravel(),
            -(slopes * p).ravel(),
        ]
        return np.concatenate(parts)

    rows = sum(map(len, ys))

    def pooled(theta: np.ndarray) -> tuple[float, np.ndarray]:
        errors = [x @ beta - y for x, beta, y in zip(xs, coefficients(theta), ys, strict=True)]
        loss = sum(float((e**2).sum()) for e in errors) / rows
        slopes = np.stack([2 * x.T @ e / rows for x, e in zip(xs, errors, strict=True)])
        return loss, gradient(theta, slopes)

    def decayed(theta: np.ndarray, strength: float) -> tuple[float, np.ndarray]:
        loss, slope = pooled(theta)
        return loss + strength / 2 * float(theta @ theta), slope + strength * theta

    theta = 0.1 * rng.normal(size=180)
    for strength in 10.0 ** -np.arange(1, 5.01, 0.5):
        options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10}
        theta = minimize(decayed, theta, args=(strength,), jac=True, method="L-BFGS-B", options=options).x
    decayed_norm = group_norm(coefficients(theta)) / best.objective
    off = np.abs(coefficients(theta) - best.coefficients).max() / np.abs(best.coefficients).max()
    theta = np.full(180, 1e-3)
    for _ in range(200_000):
        loss, slope = pooled(theta)
        if loss < 1e-12:
            break
        theta = theta - 0.02 * slope
    plain = group_norm(coefficients(theta)) / best.objective
    return {"with_decay": decayed_norm, "coefficients": float(off), "plain": plain}


def dimension_identities(seed: int) -> Values:
    """ENSD of a layer with itself, under scaling and rotations of the rows, and by both routes."""
    rng = np.random.default_rng([seed, 20])
    off: dict[str, list[float]] = {"itself": [], "invariance": [], "routes": []}
    for rows, units in ((40, 12), (12, 40)):
        x, y = rng.normal(size=(2, rows, units))
        turn = np.linalg.qr(rng.normal(size=(rows, rows)))[0]
        plain = shared_dimensions(x, y, centred=False).shared
        ratio = participation_ratio(x, centred=False)
        off["itself"].append(abs(shared_dimensions(x, x, centred=False).shared / ratio - 1))
        for one, other in ((3.0 * x, y), (x, 1e-4 * y), (turn @ x, y), (x, turn @ y)):
            off["invariance"].append(abs(shared_dimensions(one, other, centred=False).shared / plain - 1))
        c, d = x.T @ x, y.T @ y
        squares = np.trace(c @ c) * np.trace(d @ d)
        by_covariance = np.trace(c) * np.trace(d) * np.trace(c @ d) / squares
        off["routes"].append(abs(by_covariance / plain - 1))
    return {name: max(values) for name, values in off.items()}
