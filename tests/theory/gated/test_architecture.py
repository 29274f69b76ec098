"""Norms of architectures against brute-force minimisation over their parameters."""

import numpy as np
import pytest
from scipy.optimize import minimize

from recombine.errors import InputError
from recombine.theory.gated import (
    GatedArchitecture,
    GatedLayer,
    GatedRows,
    min_group_norm_machine,
    one_against_rest,
    solve_architecture,
)


def smallest_squared_norm(compute, size, beta, *, starts=6):
    """`min |theta|²` with `compute(theta) = beta`, by SLSQP from several starts."""
    rng = np.random.default_rng(0)
    best = np.inf
    for _ in range(starts):
        found = minimize(
            lambda theta: theta @ theta,
            rng.normal(size=size),
            jac=lambda theta: 2 * theta,
            constraints={"type": "eq", "fun": lambda theta: compute(theta) - beta.ravel()},
            options={"maxiter": 2000, "ftol": 1e-14},
        )
        if np.abs(compute(found.x) - beta.ravel()).max() < 1e-6:
            best = min(best, float(found.fun))
    return best


D = 2


def linear(depth):
    layers = (*[GatedLayer(D)] * (depth - 1), GatedLayer(1))

    def compute(theta):
        parts, at, width = [], 0, D
        for layer in layers:
            parts.append(theta[at : at + layer.units * width].reshape(layer.units, width))
            at, width = at + layer.units * width, layer.units
        product = parts[0]
        for part in parts[1:]:
            product = part @ product
        return product.ravel()

    return GatedArchitecture(D, layers), compute, D * D * (depth - 1) + D


def one_layer():
    return GatedArchitecture(D, (GatedLayer(1, contexts=3),)), lambda theta: theta, 3 * D


def unit_gates(units=2, contexts=2, on_off=False):
    first = GatedLayer(units, on_off=True) if on_off else GatedLayer(units, contexts=contexts)
    contexts = 1 if on_off else contexts

    def compute(theta):
        w = theta[: units * contexts * D].reshape(units, contexts, D)
        return (theta[units * contexts * D :, None, None] * w).ravel()

    return GatedArchitecture(D, (first, GatedLayer(1))), compute, units * contexts * D + units


def shared_gate(units=3, contexts=2, on_off=False):
    first = GatedLayer(units, on_off=on_off, contexts=contexts, shared=True)

    def compute(theta):
        w = theta[: units * contexts * D].reshape(units, contexts, D)
        return np.einsum("h,hcd->cd", theta[units * contexts * D :], w).ravel()

    return GatedArchitecture(D, (first, GatedLayer(1))), compute, units * contexts * D + units


def gated_readout(units=4, contexts=2, readout=2):
    def compute(theta):
        w = theta[: units * contexts * D].reshape(units, contexts * D)
        v = theta[units * contexts * D :].reshape(readout, units)
        return (v @ w).ravel()

    layers = (GatedLayer(units, contexts=contexts, shared=True), GatedLayer(1, contexts=readout))
    return GatedArchitecture(D, layers), compute, units * (contexts * D + readout)


def diagonal(depth):
    layers = (*[GatedLayer(D, wiring="one to one")] * (depth - 1), GatedLayer(1))
    return GatedArchitecture(D, layers), lambda theta: theta.reshape(depth, D).prod(axis=0), depth * D


@pytest.mark.parametrize(
    ("made", "convex"),
    [
        (linear(1), True),
        (linear(2), True),
        (linear(3), True),
        (one_layer(), True),
        (unit_gates(), True),
        (unit_gates(units=3, on_off=True), True),
        (shared_gate(), True),
        (shared_gate(contexts=1, on_off=True), True),
        (gated_readout(), True),
        (diagonal(2), True),
        (diagonal(3), False),
    ],
)
def test_norms_are_the_smallest_squared_parameters(made, convex):
    architecture, compute, size = made
    norm = architecture.norm()
    assert norm.convex == convex
    beta = np.random.default_rng(1).normal(size=norm.shape)
    assert norm.value(beta) == pytest.approx(smallest_squared_norm(compute, size, beta), rel=1e-4)


def test_architectures_without_a_convex_norm_say_why():
    own = GatedArchitecture(3, (GatedLayer(4, contexts=2), GatedLayer(1, contexts=2))).norm()
    assert not own.convex
    assert "rank one" in own.reason
    few = GatedArchitecture(3, (GatedLayer(1, contexts=2, shared=True), GatedLayer(1, contexts=2))).norm()
    assert "bound the rank" in few.reason
    deep = GatedArchitecture(3, (GatedLayer(4, contexts=2), GatedLayer(4, contexts=2), GatedLayer(1))).norm()
    assert not deep.convex
    assert "no closed form" in deep.reason
    with pytest.raises(InputError, match="one whose norm has a closed form"):
        deep.value(np.ones(3))
    with pytest.raises(InputError, match="expected a convex norm; hidden layers share weights"):
        solve_architecture(
            GatedArchitecture(3, (GatedLayer(4, contexts=2), GatedLayer(4, contexts=2), GatedLayer(1))),
            np.eye(3),
            np.array([1.0, -1.0, 1.0]),
        )
    chains = GatedArchitecture(
        3, (GatedLayer(2, contexts=2), GatedLayer(2, wiring="one to one"), GatedLayer(1))
    )
    assert chains.norm().formula == "3 sum_h |zeta_h|^(2/3)"
    assert not chains.norm().convex


def test_a_matrix_of_too_high_rank_is_refused():
    own = GatedArchitecture(2, (GatedLayer(1, contexts=2), GatedLayer(1, contexts=2))).norm()
    with pytest.raises(InputError, match="rank above 1"):
        own.value(np.random.default_rng(0).normal(size=own.shape))


@pytest.mark.parametrize("kind", ["hard margin", "regression"])
def test_solutions_meet_their_constraints_at_the_smallest_norm(kind):
    rng = np.random.default_rng(2)
    x, labels = rng.normal(size=(6, 7)), np.array([1.0, -1, 1, -1, 1, -1])
    contexts, readout = rng.integers(0, 2, size=(6, 3)), rng.integers(0, 2, size=6)
    one = contexts[:, 0]
    cases = [
        (GatedArchitecture(7, (GatedLayer(1),)), {}),
        (GatedArchitecture(7, (GatedLayer(1, contexts=2),)), {"contexts": one}),
        (GatedArchitecture(7, (GatedLayer(3, contexts=2), GatedLayer(1))), {"contexts": contexts}),
        (GatedArchitecture(7, (GatedLayer(3, contexts=2, shared=True), GatedLayer(1))), {"contexts": one}),
        (GatedArchitecture(7, (GatedLayer(7, wiring="one to one"), GatedLayer(1))), {}),
        (
            GatedArchitecture(7, (GatedLayer(9, contexts=2, shared=True), GatedLayer(1, contexts=2))),
            {"contexts": one, "readout_contexts": readout},
        ),
    ]
    for architecture, gates in cases:
        found = solve_architecture(architecture, x, labels, kind=kind, **gates)
        margins = labels * found.outputs
        if kind == "regression":
            np.testing.assert_allclose(margins, 1, atol=1e-5)
        else:
            assert margins.min() > 1 - 1e-5
        assert found.gap < 1e-5
        assert found.norm == pytest.approx(architecture.norm().value(found.coefficients))


def test_the_nuclear_norm_is_a_minimum():
    """Moving within the constraints of regression does not lower it."""
    rng = np.random.default_rng(3)
    x, y, readout = rng.normal(size=(3, 3)), rng.normal(size=3), np.array([0, 1, 0])
    architecture = GatedArchitecture(3, (GatedLayer(5), GatedLayer(1, contexts=2)))
    found = solve_architecture(architecture, x, y, readout_contexts=readout, kind="regression")
    features = np.stack([np.kron(np.eye(2)[k], row) for k, row in zip(readout, x, strict=True)])
    null = np.linalg.svd(features)[2][3:]
    for _ in range(50):
        moved = found.coefficients + 0.1 * (rng.normal(size=len(null)) @ null).reshape(2, 3)
        assert architecture.norm().value(moved) >= found.norm - 1e-7


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: GatedLayer(0), "units: got 0"),
        (lambda: GatedLayer(2, contexts=True), "contexts: got True"),
        (lambda: GatedLayer(2, contexts=2, on_off=True), "contexts: got 2, expected 1 for gates"),
        (lambda: GatedLayer(2, wiring="sparse"), "wiring: got 'sparse'"),
        (lambda: GatedArchitecture(0, (GatedLayer(1),)), "inputs: got 0"),
        (lambda: GatedArchitecture(2, ()), "layers"),
        (lambda: GatedArchitecture(2, (GatedLayer(2),)), "a readout of 2 units"),
        (
            lambda: GatedArchitecture(2, (GatedLayer(3, wiring="one to one"), GatedLayer(1))),
            "units: got 3, expected 2",
        ),
    ],
)
def test_impossible_architectures_are_refused(make, line):
    with pytest.raises(InputError, match=line):
        make()


def test_gates_that_are_missing_are_named():
    architecture = GatedArchitecture(2, (GatedLayer(2, contexts=2), GatedLayer(1)))
    with pytest.raises(InputError, match="contexts: got None"):
        solve_architecture(architecture, np.eye(2), np.array([1.0, -1.0]))
    with pytest.raises(InputError, match="expected \\(rows, units\\) with 2 units"):
        solve_architecture(architecture, np.eye(2), np.array([1.0, -1.0]), contexts=np.zeros(2, dtype=int))


def test_inputs_of_another_width_are_refused():
    linear = GatedArchitecture(2, (GatedLayer(1),))
    with pytest.raises(InputError, match="with 2 inputs"):
        solve_architecture(linear, np.eye(3)[:2], np.array([1.0, -1.0]))


def test_a_gate_that_all_units_share_may_be_given_once_or_for_every_unit():
    rng = np.random.default_rng(0)
    x, labels, on = rng.normal(size=(8, 9)), np.tile([1.0, -1.0], 4), np.ones(8, dtype=bool)
    for first, gate in (
        (GatedLayer(3, on_off=True, shared=True), on),
        (GatedLayer(3, contexts=2, shared=True), rng.integers(0, 2, size=8)),
    ):
        architecture = GatedArchitecture(9, (first, GatedLayer(1)))
        once = solve_architecture(architecture, x, labels, contexts=gate)
        each = solve_architecture(architecture, x, labels, contexts=np.tile(gate[:, None], 3))
        assert once.norm == pytest.approx(each.norm)
        mixed = np.tile(gate[:, None], 3)
        mixed[0, 1] = not mixed[0, 1]
        with pytest.raises(InputError, match="contexts: got 'units with different gates'"):
            solve_architecture(architecture, x, labels, contexts=mixed)


def test_tensors_of_any_precision_are_read_and_ragged_rows_are_refused():
    torch = pytest.importorskip("torch")
    linear = GatedArchitecture(2, (GatedLayer(1),))
    x = torch.eye(2, dtype=torch.bfloat16, requires_grad=True)
    assert solve_architecture(linear, x, np.array([1.0, -1.0])).norm == pytest.approx(2.0)
    with pytest.raises(InputError, match="inputs: got 'rows of different lengths, or no numbers'"):
        solve_architecture(linear, [[1.0, 2.0], [3.0]], np.array([1.0, -1.0]))
    with pytest.raises(InputError, match="an array with 2 axes, not empty"):
        solve_architecture(linear, np.zeros((0, 2)), np.zeros(0))


def test_labels_of_several_kinds_are_refused():
    rows = GatedRows.of(np.eye(3), np.zeros((3, 1), dtype=int))
    with pytest.raises(InputError, match="labels: got 'labels of several kinds'"):
        one_against_rest(rows, [None, 1, "a"])
    with pytest.raises(InputError, match="cost: got 'a', expected a positive number"):
        min_group_norm_machine(rows, np.array([1.0, -1.0, 1.0]), kind="soft margin", cost="a")
