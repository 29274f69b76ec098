"""Identities of the theory, measured by their largest violation: probes of a task whose split provides the seed."""

from __future__ import annotations

from math import comb
from typing import Any, get_args

import numpy as np

from recombine.tasks import Task, addition, invariance, logical, partial_exposure
from recombine.theory import (
    OverlapKernel,
    addition_line,
    closed_forms,
    decompose,
    held_out_corner,
    min_norm,
    multi_hot,
    random_network,
    ridge,
    salience_by_depth,
)
from recombine.theory.random_networks import Nonlinearity

Values = dict[str, Any]

RELU_THREE = (0.203501, 0.094238, 0.106783)
"""S(1;3), S(2;3), S(3;3) of a random ReLU network of three layers."""
DEPTHS = 20
UNEQUAL_SHARES = (0.1, 0.3, 0.4, 0.5)
"""The share of the first of two factors in the input, as published."""


def seed_of(task: Task) -> np.random.Generator:
    """A random generator derived from the task's split, and so from the trial's seed."""
    return np.random.default_rng(np.flatnonzero(task.split.seen))


def machine_predictions(
    task: Task, kernel: OverlapKernel, *, offset: bool = False, solve: Any = min_norm
) -> tuple[np.ndarray, np.ndarray]:
    """The predictions of a kernel machine for the task's unseen rows, and their targets."""
    cells, seen = task.split.space.cells[task.cell], task.split.seen[task.cell]
    targets = task.targets.ravel().astype(np.float64)
    settings = {"offset": offset} if solve is min_norm else {}
    machine = solve(kernel.gram(cells[seen]), targets[seen], **settings)
    return machine(kernel.gram(cells[~seen], cells[seen])), targets[~seen]


def round_trips(task: Task) -> Values:
    """Similarity to salience and back, in both forms, up to five factors."""
    rng, gaps = seed_of(task), []
    for factors in range(1, 6):
        for _ in range(20):
            sets = OverlapKernel(rng.normal(size=(2,) * factors))
            gaps.append(np.abs(OverlapKernel.from_salience(sets.salience).similarity - sets.similarity).max())
            counts = rng.normal(size=factors + 1)
            by_order = [
                sum((-1) ** (k - j) * comb(k, j) * counts[j] for j in range(k + 1))
                for k in range(factors + 1)
            ]
            again = OverlapKernel.by_order(by_order).similarity
            gaps.append(np.abs(again - OverlapKernel.by_count(counts).similarity).max())
    return {"round_trip_gap": max(gaps)}


def trajectories(task: Task) -> Values:
    """Saliences of random networks by depth: do they sum to 1, and is ReLU's as tabulated?"""
    results = {f"salience_{name}": salience_by_depth(3, DEPTHS, name) for name in get_args(Nonlinearity)}
    gaps = [np.abs(values @ [3, 3, 1] - 1).max() for values in results.values()]
    gaps += [
        abs(float(salience_by_depth(2, DEPTHS, name)[depth] @ [2, 1]) - 1)
        for name in get_args(Nonlinearity)
        for depth in range(DEPTHS + 1)
    ]
    # The table has six digits, so it is compared with ours rounded to six digits.
    relu = np.abs(np.round(random_network(3, 3).order_shares, 6) - RELU_THREE).max()
    four = np.stack([salience_by_depth(4, DEPTHS, name) for name in get_args(Nonlinearity)])
    gaps.append(np.abs(four @ [4, 6, 4, 1] - 1).max())
    start = [multi_hot(2, (share, 1 - share)) for share in UNEQUAL_SHARES]
    unequal = [[random_network(k, depth).normalised.ravel() for depth in range(DEPTHS + 1)] for k in start]
    return {
        "sum_gap": max(gaps),
        "relu_gap": relu,
        **results,
        "salience_of_four": four,
        "salience_unequal": np.array(unequal),
    }


def spectra(task: Task) -> Values:
    """The closed-form spectrum compared with the eigenvalues of the full grid's Gram matrix, also for unequal sizes."""
    rng, gaps = seed_of(task), []
    for _ in range(30):
        factors = int(rng.integers(1, 4))
        sizes = rng.integers(2, 5, size=factors).tolist()
        kernel = OverlapKernel(rng.normal(size=(2,) * factors))
        cells = np.indices(sizes).reshape(factors, -1).T
        values, times = kernel.spectrum(sizes)
        expected = np.sort(np.repeat(values.ravel(), times.ravel()))
        gaps.append(np.abs(np.linalg.eigvalsh(kernel.gram(cells)) - expected).max())
    return {"spectrum_gap": max(gaps)}


def additivity(task: Task) -> Values:
    """Kernel machines with any dual weights are sums over seen conjunctions; the full ones vanish on unseen cells."""
    rng, gaps = seed_of(task), []
    for kernel, cells, train, weights in _problems(rng, 30):
        parts = decompose(kernel, cells[train], weights, cells)
        whole = kernel.gram(cells, cells[train]) @ weights
        gaps.append(np.abs(sum(parts.values()) - whole).max())
        gaps.append(np.abs(parts[tuple(range(kernel.factors))][~train]).max(initial=0.0))
    return {"additivity_gap": max(gaps)}


def ridge_identity(task: Task) -> Values:
    """Minimum norm equals ridge regression on the lower orders; exemplars share the ridge."""
    rng, gaps, exemplars = seed_of(task), [], []
    for kernel, cells, train, targets in _problems(rng, 30):
        full, lower, unseen = float(kernel.salience.ravel()[-1]), kernel.lower(), cells[~train]
        exact = min_norm(kernel.gram(cells[train]), targets)(kernel.gram(unseen, cells[train]))
        across = lower.gram(unseen, cells[train])
        gaps.append(np.abs(exact - ridge(lower.gram(cells[train]), targets, full)(across)).max(initial=0.0))
        copies, private = rng.integers(1, 4, size=len(targets)), rng.uniform(0.2, 1)
        rows = np.repeat(np.arange(len(targets)), copies)
        gram = kernel.gram(cells[train][rows]) + private * np.eye(len(rows))
        many = min_norm(gram, targets[rows])(kernel.gram(unseen, cells[train][rows]))
        shared = ridge(lower.gram(cells[train]), targets, full + private / copies)(across)
        exemplars.append(np.abs(many - shared).max(initial=0.0))
    return {"ridge_gap": max(gaps), "exemplar_gap": max(exemplars)}


def _problems(
    rng: np.random.Generator, count: int
) -> list[tuple[OverlapKernel, np.ndarray, np.ndarray, np.ndarray]]:
    """Random kernels, grids, training sets and a number for each training cell."""
    values = []
    for _ in range(count):
        factors = int(rng.integers(2, 5))
        cells = np.indices(rng.integers(2, 4, size=factors).tolist()).reshape(factors, -1).T
        train = rng.random(len(cells)) < 0.6
        train[rng.integers(len(cells))] = True
        kernel = OverlapKernel.from_salience(rng.uniform(0.2, 1, size=(2,) * factors))
        values.append((kernel, cells, train, rng.normal(size=train.sum())))
    return values


def slope_law(task: Task) -> Values:
    """Addition from 1 to 5 random anchors: slope, offset, and deviation from a line."""
    rng, slope_gap, offset_gap, residual = seed_of(task), [], [], []
    values = np.arange(-4.0, 5.0)
    for anchors in range(1, 6):
        for salience in (0.1, 0.3, 0.45):
            chosen = np.sort(rng.choice(9, size=anchors, replace=False))
            outputs, targets = machine_predictions(
                addition(anchors=chosen.tolist()), OverlapKernel.by_count([0, salience, 1]), offset=True
            )
            slope, offset = np.polyfit(targets, outputs, 1)
            law = addition_line(values, chosen, salience)
            slope_gap.append(abs(slope - law.slope))
            offset_gap.append(abs(offset - law.offset))
            residual.append(np.abs(outputs - slope * targets - offset).max())
    saliences = np.linspace(0.0, 0.5, 51)
    curves = [[closed_forms.addition_slope(s, p) for s in saliences] for p in range(1, 6)]
    return {
        "slope_gap": max(slope_gap),
        "offset_gap": max(offset_gap),
        "line_residual": max(residual),
        "slopes": np.array(curves),
    }


def small_tables(task: Task) -> Values:
    """Invariance, partial exposure and logic: closed forms compared with machines, and which are solved."""
    gaps, curves = [], []
    grid = np.linspace(0.02, 0.5, 25)
    for k in grid:
        kernel = OverlapKernel.by_count([0, k, 1])
        values = {
            "invariance": machine_predictions(invariance(), kernel)[0]
            - np.array([-1, 1]) * closed_forms.invariance(k)
        }
        labels = {"partial": (-1, -1, 1), "and": (-1, -1, -1), "or": (-1, 1, 1), "xor": (-1, 1, 1)}
        for name, corners in labels.items():
            table = partial_exposure() if name == "partial" else logical(operation=name)
            values[name] = machine_predictions(table, kernel)[0] - held_out_corner(k, *corners)
        gaps.append(max(np.abs(gap).max() for gap in values.values()))
        curves.append([held_out_corner(k, *labels["partial"]), closed_forms.invariance(k)])
    signs = []
    for name in ("and", "or", "xor"):
        outputs, targets = machine_predictions(logical(operation=name), OverlapKernel.by_count([0, 0.3, 1]))
        signs.append(float(outputs[0] * targets[0] > 0))
    return {"corner_gap": max(gaps), "logic_right": np.array(signs), "small_curves": np.array(curves).T}
