"""Identities of the theory, each checked by a second route."""

from __future__ import annotations

from itertools import product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.nets.gated import at_quantiles, parts, random_gates, two_layer_gated
from recombine.studies.gated_linear.labelled_rows import Array
from recombine.studies.gated_linear.training import size_of_parts
from recombine.theory.gated import (
    GatedRows,
    InseparableError,
    context_kernel,
    effective_weights,
    group_norm_by_cones,
    kernel_margin,
    min_group_norm_machine,
)

Values = dict[str, Any]
POINTS = np.array(
    [
        *[(0.2, 0.3), (0.4, 0.1), (0.8, 0.9), (0.6, 0.9)],
        *[(-0.3, 0.1), (-0.5, 0.25), (-0.8, 0.75), (-0.6, 0.8)],
        *[(0.3, -0.3), (0.3, -0.25), (0.9, -0.85), (0.8, -0.6)],
        *[(-0.2, -0.2), (-0.1, -0.35), (-0.6, -0.9), (-0.95, -0.65)],
    ]
)
"""Figure 1: inner points (class -1) and outer points (class 1)."""
POINT_LABELS = np.tile([-1.0, -1.0, 1.0, 1.0], 4)


def nothing(*, seed: int = 0) -> int:
    """The task of trials that check identities: only the seed."""
    return seed


def _problem(rng: np.random.Generator, *, units: int, contexts: int = 2) -> tuple[GatedRows, Array]:
    """Labels that random weights separate."""
    rows = GatedRows.of(
        rng.normal(size=(40, 6)), rng.integers(0, contexts, size=(40, units)), n_contexts=contexts
    )
    return rows, np.sign(rows.predict(rng.normal(size=(units, contexts, 6))))


def programmes(seed: int) -> Values:
    """Primal against dual and cones; the l2 norm of effective weights by brute force; its kernel against weights."""
    rng = np.random.default_rng(seed)
    gap = 0.0
    for _ in range(5):
        rows, labels = _problem(rng, units=int(rng.integers(2, 6)))
        machine, cones = min_group_norm_machine(rows, labels), group_norm_by_cones(rows, labels)
        gap = max(gap, machine.gap, abs(machine.norm / cones.norm - 1))
    brute = 0.0
    for units, contexts in product((2, 4, 6), (2, 3)):
        zeta = rng.normal(size=(units, contexts, 3))
        joint = [sum(zeta[h, c] for h, c in enumerate(own)) for own in product(range(contexts), repeat=units)]
        mean = zeta.mean(axis=1)
        closed = float((mean.sum(axis=0) ** 2).sum() + ((zeta - mean[:, None]) ** 2).sum() / contexts)
        brute = max(brute, abs(float(np.mean([w @ w for w in joint])) / closed - 1))
    rows, labels = _problem(rng, units=3)
    kernel = context_kernel("units", rows)
    machine_l2 = kernel_margin(kernel, labels)
    weights = rows.sums(machine_l2.signed)  # the same machine by its weights
    off = float(np.abs(rows.predict(weights) - machine_l2.predict(kernel)).max())
    return {"primal and dual": gap, "l2 identity": brute, "kernel and weights": off}


def special_cases(seed: int) -> Values:
    """Shared gates are one unit; one unit decouples by context; without gates it is the linear machine."""
    rng = np.random.default_rng(seed)
    x, gate = rng.normal(size=(30, 8)), rng.integers(0, 2, size=(30, 1))
    rows = GatedRows.of(x, gate)
    labels = np.sign(rows.predict(rng.normal(size=(1, 2, 8))))
    one = min_group_norm_machine(rows, labels, tolerance=1e-10)
    many = min_group_norm_machine(GatedRows.of(x, np.repeat(gate, 4, axis=1)), labels, tolerance=1e-8)
    squares = 0.0
    for context in (0, 1):
        own = gate[:, 0] == context
        try:
            squares += kernel_margin(x[own] @ x[own].T, labels[own]).norm ** 2
        except InseparableError:
            squares = np.nan
    straight = np.sign(x @ rng.normal(size=8))
    linear = kernel_margin(x @ x.T, straight)
    ungated = min_group_norm_machine(GatedRows.of(x, np.zeros((30, 3), dtype=int)), straight, tolerance=1e-8)
    return {
        "shared gates": abs(many.norm / one.norm - 1),
        "contexts apart": abs(one.norm / np.sqrt(squares) - 1),
        "no gates": abs(ungated.norm / linear.norm - 1),
    }


def toy_problem(seed: int) -> Values:
    """Figure 1: the drawn parts form a diamond, and an unseen quadrant gets the sum of parts."""
    x = np.concatenate([POINTS, np.ones((len(POINTS), 1))], axis=1)
    rows = GatedRows.of(x, (POINTS > 0).astype(int))
    drawn = np.array([[[-1.0, 0, -0.5], [1, 0, -0.5]], [[0, -1.0, -0.5], [0, 1, -0.5]]])
    diamond = float(np.abs(rows.predict(drawn) - (np.abs(POINTS).sum(axis=1) - 1)).max())
    wrong = float((np.sign(rows.predict(drawn)) != POINT_LABELS).sum())
    machine = min_group_norm_machine(rows, POINT_LABELS)
    short = max(0.0, 1 - float((POINT_LABELS * machine.predict(rows)).min()))
    off, alone = 0.0, 0.0
    for quadrant in product((0, 1), repeat=2):
        out = ((POINTS > 0) == quadrant).all(axis=1)
        seen, unseen = (GatedRows(x[part], rows.indicator[part]) for part in (~out, out))
        fitted = min_group_norm_machine(seen, POINT_LABELS[~out])
        whole = effective_weights(fitted.weights, rows)
        w = {q: whole[((POINTS > 0) == q).all(axis=1)][0] for q in product((0, 1), repeat=2)}
        a, b = quadrant
        total = w[a, 1 - b] + w[1 - a, b] - w[1 - a, 1 - b]
        off = max(off, float(np.abs(w[quadrant] - total).max()))
        joint = kernel_margin(context_kernel("joint", seen), POINT_LABELS[~out])
        alone = max(alone, float(np.abs(joint.predict(context_kernel("joint", unseen, seen))).max()))
    return {
        "diamond": diamond,
        "points wrong": wrong,
        "margin missed": short,
        "sum of parts": off,
        "one layer": alone,
    }


def published_groups_of_weights(seed: int) -> Values:
    """A known tensor: its norm by units, and as the published programme groups it."""
    weights = np.random.RandomState(1).randn(785, 3, 4).transpose(1, 2, 0)
    squares = (weights**2).sum(axis=2)
    mixed = squares.ravel().reshape(4, 3).T
    return {
        "by units": abs(float(np.sqrt(squares.sum(axis=1)).sum()) - 168.40711693),
        "as published": abs(float(np.sqrt(mixed.sum(axis=1)).sum()) - 168.40239530),
    }


def restored_net(seed: int) -> Values:
    """A net that was saved and restored predicts the same, thresholds included."""
    import io

    x = jnp.asarray(np.random.default_rng(seed).normal(size=(50, 6)), dtype=jnp.float32)
    gates = at_quantiles(random_gates(units=4, inputs=6, bits=2, key=jax.random.key(seed)), np.asarray(x))
    net = two_layer_gated(gates, inputs=6, key=jax.random.key(seed + 1))
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, net)
    file.seek(0)
    blank = two_layer_gated(
        random_gates(units=4, inputs=6, bits=2, key=jax.random.key(seed + 2)),
        inputs=6,
        key=jax.random.key(seed + 3),
    )
    restored = eqx.tree_deserialise_leaves(file, blank)
    outputs = float(np.abs(np.asarray(restored(x)) - np.asarray(net(x))).max())
    return {"outputs": outputs, "parts": float(np.abs(parts(restored) - parts(net)).max())}


def descended(seed: int, *, steps: tuple[int, ...]) -> Values:
    """Normalised gradient descent on a small problem: norm over its optimum after more and more steps, and balance.

    **Returns:** `excess` `(steps,)`, the norm at a margin of 1 relative to the smallest, minus 1; `imbalance`.
    """
    from recombine.metrics import balancedness, norm_ratio

    rng = np.random.default_rng([seed, 7])
    rows, labels = _problem(rng, units=5)
    machine = min_group_norm_machine(rows, labels, tolerance=1e-9)
    w = 0.1 * rng.normal(size=(5, 2, 6))
    v = np.linalg.norm(w, axis=(1, 2)) * rng.choice([-1.0, 1.0], size=5)
    found, step = [], 0
    for count in steps:
        while step < count:
            unit = rows.scores(w)
            margins = labels * (unit @ v)
            sharp = 20.0 * (1 + step / 500) / max(float(np.abs(margins).max()), 1e-300)
            pull = np.exp(-sharp * (margins - margins.min()))
            pull = pull / pull.sum() * labels
            to_w, to_v = rows.sums(pull) * v[:, None, None], unit.T @ pull
            size = np.sqrt((w**2).sum() + (v**2).sum())
            rate = 1e-3 * size / np.sqrt((to_w**2).sum() + (to_v**2).sum())
            w, v, step = w + rate * to_w, v + rate * to_v, step + 1
        zeta = w * v[:, None, None]
        found.append(norm_ratio(rows.predict(zeta), labels, size_of_parts(zeta), machine.bound) - 1)
    return {"excess": found, "imbalance": balancedness(w, v)}
