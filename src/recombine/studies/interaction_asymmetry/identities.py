"""Exact statements about functions with known interaction; the task is only the source of the seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.metrics.interaction import (
    derivative_tensors,
    hessian_parts,
    independence_of,
    interaction_profile,
    jacobian_parts,
    mixed_difference,
    third_parts,
)
from recombine.metrics.interaction.energies import slot_energies
from recombine.metrics.interaction.slot_partition import as_slots
from recombine.models import as_function
from recombine.studies.interaction_asymmetry import published
from recombine.studies.interaction_asymmetry.functions import (
    DECODER_LATENTS,
    DECODER_OUTPUTS,
    DECODER_SLOTS,
    FUNCTIONS,
    Function,
    g1,
    g2,
    grid,
    linear,
    order_two_decoder,
    rotated,
)
from recombine.studies.interaction_asymmetry.task_seed import generator
from recombine.tasks import InteractionTask, Task

Values = dict[str, Any]
SLOTS = ((0,), (1,))
PROBE_COUNTS = (250, 1000, 4000)


def shares(function: Function, points: np.ndarray, max_order: int = 4) -> Float[np.ndarray, " orders"]:
    """q1, r2, … of a function of two slots, pooled over points, from exact derivatives."""
    profile = interaction_profile(
        function, points, SLOTS, method="exact", max_order=max_order, samples=None, batched=False, resamples=1
    )
    return np.array([share.value for share in profile.shares])


def profiles(task: Task) -> Values:
    """The profiles of all functions, and their largest difference from the reference."""
    values = {name: shares(function, grid()) for name, function in FUNCTIONS.items()}
    gaps = []
    for name, expected in published.PROFILES.items():
        got, reference = values[name], np.array(expected)
        gaps.append(
            np.inf if (np.isnan(got) != np.isnan(reference)).any() else np.nanmax(abs(got - reference))
        )
    return {"profiles": np.stack(list(values.values())), "profile_gap": float(max(gaps))}


def orders(task: Task) -> Values:
    """The estimated order of g0 to g3 and of the softmax (4 stands for "more than 3"), and how many are wrong."""
    estimated = []
    for name in published.ORDERS:
        profile = interaction_profile(
            FUNCTIONS[name],
            grid(),
            SLOTS,
            method="exact",
            max_order=4,
            threshold=1e-6,
            samples=None,
            batched=False,
        )
        estimated.append(4 if profile.order is None else profile.order)
    expected = [4 if order is None else order for order in published.ORDERS.values()]
    return {
        "orders": np.array(estimated),
        "orders_that_differ": int(np.sum(np.array(estimated) != np.array(expected))),
    }


def finite_differences(task: Task, *, points: int = 20) -> Values:
    """(n+1)-fold mixed differences across slots, with steps of 0.5 to 1; at each point the largest over outputs.

    `vanishing`: the largest of g_n, for n = 1, 2, 3, over points and assignments of directions to slots; `present`:
    the smallest of g_{n+1}, for n = 1, 2; `softmax`: the smallest and largest 4-fold difference of the softmax.
    """
    rng = generator(task)
    z = rng.uniform(-1, 1, size=(points, 2))

    def sizes(name: str, fold: int) -> np.ndarray:
        values = []
        for split in combinations_with_replacement((0, 1), fold):
            if len(set(split)) > 1:
                steps = rng.uniform(0.5, 1, size=(points, fold, 1)) * np.eye(2)[list(split)]
                values.append(np.abs(mixed_difference(lambda x: _values(name, x), z, steps)).max(axis=1))
        return np.array(values)

    softmax = sizes("gs", 4)
    return {
        "vanishing": np.array([sizes(f"g{n}", n + 1).max() for n in (1, 2, 3)]),
        "present": np.array([sizes(f"g{n + 1}", n + 1).min() for n in (1, 2)]),
        "softmax": np.array([softmax.min(), softmax.max()]),
    }


def _values(name: str, rows: np.ndarray) -> np.ndarray:
    return FUNCTIONS[name](rows.T, np).T


def probe_estimates(task: Task) -> Values:
    """Second derivatives across slots, estimated along random directions and computed exactly.

    `estimate_z`: difference of the estimate from the exact value in standard errors, for 250, 1000 and 4000 probes;
    `error_slope`: the exponent with which the standard error falls with the number of probes, -1/2 expected.
    """
    rng = generator(task)
    z = rng.normal(size=(1, DECODER_LATENTS))
    view = as_function(order_two_decoder(rng), z, batched=False, chunk=1000)
    assert view.derivative is not None
    slots = as_slots(DECODER_SLOTS, DECODER_LATENTS)
    exact = slot_energies(view.derivative, z, slots, 2, outputs=DECODER_OUTPUTS)
    expected = exact.values[0, 0, exact.crossing].sum()
    estimates, errors = [], []
    for number in PROBE_COUNTS:
        energies = slot_energies(
            view.derivative, z, slots, 2, outputs=DECODER_OUTPUTS, probes=number, rng=rng
        )
        draws = energies.values[0][:, energies.crossing].sum(axis=1)
        estimates.append(draws.mean())
        errors.append(draws.std(ddof=1) / np.sqrt(number))
    slope = np.polyfit(np.log(PROBE_COUNTS), np.log(errors), 1)[0]
    return {
        "exact": expected,
        "estimates": np.array(estimates),
        "errors": np.array(errors),
        "estimate_z": np.abs(np.array(estimates) - expected) / np.array(errors),
        "error_slope": float(slope),
    }


def rotation_scan(task: Task) -> Values:
    """Interaction after a rotation of the latents: zero at 0 and 90 degrees only.

    `degrees`, and the curves r2 of g1, r3 of g2, r2 of g2, r3 of g1 and the second derivative of the linear map
    `(degrees,)`; their largest difference from the reference.
    """
    reference = np.array(published.ROTATIONS)
    degrees = reference[:, 0]
    values = np.array([[shares(rotated(g, angle), grid(), 3)[1:] for g in (g1, g2)] for angle in degrees])
    curves = np.stack([values[:, 0, 0], values[:, 1, 1], values[:, 1, 0], values[:, 0, 1]], axis=1)
    second = [
        np.abs(derivative_tensors(rotated(linear, angle), [0.3, -0.2], 2, batched=False)[1]).max()
        for angle in degrees
    ]
    inside = (degrees > 0) & (degrees < 90)
    return {
        "degrees": degrees,
        "r2_g1": curves[:, 0],
        "r3_g2": curves[:, 1],
        "r2_g2": curves[:, 2],
        "r3_g1": curves[:, 3],
        "rotation_gap": float(np.abs(curves - reference[:, 1:]).max()),
        "at_the_ends": float(curves[~inside, :2].max()),
        "between": float(curves[inside, :2].min()),
        "linear_second": float(max(second)),
    }


def independence_ranks(task: Task) -> Values:
    """Ranks of sufficient independence at a random point: of g1 (order 1), g2 (order 2) and the linear map (order 1).

    Each is given as joint rank, rank of the lower orders, and rank of each slot.
    """
    rng = generator(task)
    point = rng.uniform(-0.9, 0.9, size=2)
    values = {}
    for name, function, order in (("g1", g1, 1), ("g2", g2, 2), ("linear", linear, 1)):
        ranks = independence_of(function, point, SLOTS, order, batched=False)
        values[f"ranks_{name}"] = np.array([ranks.joint, ranks.lower, *ranks.slots])
        values[f"margin_{name}"] = np.array(min(ranks.margin, 1e16))
    wrong = [
        np.sum(values[f"ranks_{name}"] != np.array([joint, lower, *slots]))
        for name, (joint, lower, slots) in published.RANKS.items()
    ]
    return {**values, "ranks_that_differ": int(sum(wrong))}


def generator_independence(task: InteractionTask) -> Values:
    """Whether the task's own generator has sufficient independence at its order, at its first latents."""
    decoder = task.decoder
    assert task.latents is not None
    return {
        "independent": independence_of(
            decoder, task.latents[0], decoder.slots, decoder.order, batched=False
        ).holds
    }


def reparametrisation(task: Task) -> Values:
    """A reparametrised slot: order 1 is preserved (r2 of g1 is 0), order 2 is not (r3 of g2 is not 0)."""
    first, second = (shares(FUNCTIONS[f"{name} reparametrised"], grid(), 3) for name in ("g1", "g2"))
    return {"r2_g1": float(first[1]), "r3_g2": float(second[2])}


def indecomposability(task: Task, *, draws: int = 5) -> Values:
    """Tests of indecomposability on slots of four latents, random or with a hidden split into 2 + 2.

    `parts`: the dimension of the centroid, or the number of components, in the order of `published.CENTROIDS`; and how
    many of all draws differ from it.
    """
    rng = generator(task)
    expected = np.array(list(published.CENTROIDS.values()))
    dimensions = np.array([_dimensions(rng) for _ in range(draws)])
    return {"parts": dimensions[0], "parts_that_differ": int(np.sum(dimensions != expected))}


def _dimensions(rng: np.random.Generator) -> list[int]:
    d = 4

    def symmetric(outputs: int, order: int, blocks: bool) -> np.ndarray:
        """Random symmetric tensors; with blocks, zero across latents {0, 1} and {2, 3} before a change of basis."""
        raw = rng.normal(size=(outputs, *[d] * order))
        letters = "abc"[:order]
        turned = ["".join(np.roll(list(letters), k)) for k in range(order)]
        turned += [t[::-1] for t in turned] if order == 3 else []
        tensor = sum(np.einsum(f"l{letters}->l{t}", raw) for t in turned)
        if blocks:
            half = np.arange(d) // 2
            same = np.ones([d] * order, dtype=bool)
            for axis in range(1, order):
                same &= half.reshape([-1] + [1] * (order - 1)) == half.reshape(
                    [1] * axis + [-1] + [1] * (order - 1 - axis)
                )
            basis = rng.normal(size=(d, d))
            tensor = tensor * same
            for axis in range(1, order + 1):
                tensor = np.moveaxis(np.tensordot(tensor, basis, axes=([axis], [0])), -1, axis)
        return tensor

    split = np.zeros((12, d))
    split[:6, :2], split[6:, 2:] = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    return [
        *(hessian_parts(symmetric(outputs, 2, False)).dimension for outputs in (1, 2, 3)),
        hessian_parts(symmetric(6, 2, True)).dimension,
        third_parts(symmetric(3, 3, False)).dimension,
        third_parts(symmetric(6, 3, True)).dimension,
        jacobian_parts(rng.normal(size=(12, d))).dimension,
        jacobian_parts(split @ rng.normal(size=(d, d))).dimension,
    ]


def columns(points: np.ndarray, order: int, degree: int = 7) -> Float[np.ndarray, "points terms"]:
    """Monomials of each slot up to `degree`, and products of both slots up to total degree `order`."""
    a, b = points.T
    own = [a**i for i in range(degree + 1)] + [b**i for i in range(1, degree + 1)]
    both = [a**i * b**j for i in range(1, order) for j in range(1, order - i + 1)]
    return np.stack([*own, *both], axis=1)


def l_shape(
    task: Task, *, side: int = 41, model_orders: Sequence[int] = (1, 2, 3, 7), output: int = 3
) -> Values:
    """Extrapolation from an L-shaped support to the missing quadrant a > 0, b > 0, by least squares.

    `table`: R² inside and outside without noise, and with noise of 0.05, relative to the variance inside, for g1, g2,
    g3, softmax × orders of the model; `clean_gap` its difference from the reference without noise. For a figure,
    `surface` `(2, orders, side, side)`: one output of g2 as predicted without and with noise, and `truth` itself.
    """
    rng = generator(task)
    points = grid(side)
    inside = ~((points > 1e-9).all(axis=1))
    table, surfaces = [], {}
    for name in ("g1", "g2", "g3", "gs"):
        clean = _values(name, points)
        noisy = clean + published.NOISE * rng.normal(size=clean.shape)
        variance = ((clean[inside] - clean[inside].mean(axis=0)) ** 2).mean(axis=0).sum()
        for order in model_orders:
            row = []
            for data in (clean, noisy):
                features = columns(points, order)
                weights = np.linalg.lstsq(features[inside], data[inside], rcond=None)[0]
                predicted = features @ weights
                error = (predicted - clean) ** 2
                row += [1 - error[where].mean(axis=0).sum() / variance for where in (inside, ~inside)]
                surfaces[name, order, data is noisy] = predicted[:, output].reshape(side, side)
            table.append(row)
    values = np.array(table)
    expected = np.array(
        [published.L_SHAPE[name, k] for name in ("g1", "g2", "g3", "gs") for k in (1, 2, 3, 7)]
    )
    same = tuple(model_orders) == (1, 2, 3, 7)
    return {
        "table": values.reshape(4, len(model_orders), 4),
        "clean_gap": float(np.abs(values - expected)[:, :2].max()) if same else np.nan,
        "surface": np.stack([[surfaces["g2", k, noise] for k in model_orders] for noise in (False, True)]),
        "truth": _values("g2", points)[:, output].reshape(side, side),
    }
