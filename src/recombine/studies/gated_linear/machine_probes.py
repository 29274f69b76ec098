"""What a seed measures: trained nets, and the machines that predict them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.bias.explanations import median_gates
from recombine.metrics import inconsistency, norm_ratio
from recombine.nets.gated import parts
from recombine.studies.gated_linear.labelled_rows import Array, LabelledRows
from recombine.studies.gated_linear.training import (
    error,
    gated_net,
    hidden_weights,
    outputs,
    rectified_net,
    size_of_parts,
    with_redrawn_thresholds,
)
from recombine.theory.gated import (
    GatedRows,
    InseparableError,
    context_bounds,
    context_kernel,
    kernel_margin,
    min_group_norm_machine,
    published_groups,
    published_l2_kernel,
)

Values = dict[str, Any]
MACHINES = ("group norm", "l2 of units", "l2 of effective weights", "published groups", "published l2")
"""The group norm of true units, two proper l2 norms, and two programmes as coded for the published tables."""


def one_layer(rows: LabelledRows, *, bits: Sequence[int], trained_bits: Sequence[int], steps: int) -> Values:
    """Errors of one gated unit by its number of hyperplanes: machines, and trained nets for some of them.

    **Returns:**

    `machine error`, `empty` (share of test rows in contexts without training rows), `support` (share of training rows),
    `bound` (on the leave-one-out error), each `(bits,)`, all with thresholds at the median; `net error`
    `(trained_bits,)`.
    """
    found: dict[str, list[float]] = {name: [] for name in ("machine error", "empty", "support", "bound")}
    for count in bits:
        train, test = rows.gated(rows.gates(units=1, bits=count, median=True))
        scores, support, bound = _one_layer_machine(train, test, rows.train_labels)
        found["machine error"].append(error(scores, rows.test_labels))
        used = np.asarray(train.pieces.any(axis=0))
        found["empty"].append(float(np.mean(~used[test.pieces.argmax(axis=1)])))
        found["support"].append(support)
        found["bound"].append(bound)
    nets = [
        gated_net(rows, rows.gates(units=1, bits=count, median=True), steps=steps) for count in trained_bits
    ]
    return found | {"net error": [error(outputs(net, rows.test), rows.test_labels) for net in nets]}


def _one_layer_machine(train: GatedRows, test: GatedRows, labels: Array) -> tuple[Array, float, float]:
    try:
        machine = min_group_norm_machine(train, labels)
    except InseparableError:
        return np.full(len(test), np.nan), np.nan, np.nan
    bounds = context_bounds(machine, train)
    return machine.predict(test), len(machine.support) / len(train), bounds.leave_one_out


def two_layers(
    rows: LabelledRows, *, units: Sequence[int], median: bool, steps: int, momentum: float
) -> Values:
    """Trained nets with a gate for every unit, and the machines behind the same gates.

    **Returns:**

    By machine and `net`: `... error` `(units,)`; by machine: `... differs`, how often it and the net differ, and
    `... by chance`, the same if both erred independently. `norm ratio` of the nets. With median thresholds also
    `redrawn differs`, the comparison with nets whose thresholds were lost.
    """
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for count in units:
        gates = rows.gates(units=count, bits=1, median=median)
        net = gated_net(rows, gates, steps=steps, momentum=momentum)
        train, test = rows.gated(gates)
        own = outputs(net, rows.test)
        note("net error", error(own, rows.test_labels))
        smallest = np.nan
        for name, (scores, bound) in _machines(train, test, rows.train_labels).items():
            for what, value in _compared(scores, own, rows.test_labels).items():
                note(f"{name} {what}", value)
            smallest = bound if name == "group norm" else smallest
            if name == "group norm" and median:
                lost = outputs(with_redrawn_thresholds(net, rows), rows.test)
                note("redrawn differs", inconsistency(scores, lost).share)
        on_train = outputs(net, rows.train)
        note("norm ratio", norm_ratio(on_train, rows.train_labels, size_of_parts(parts(net)), smallest))
    return found


def _compared(scores: Array, own: Array, labels: Array) -> dict[str, float]:
    """A machine's error, and how often it disagrees with the net; NaN if the labels could not be separated."""
    if not np.isfinite(scores).all():
        return dict.fromkeys(("error", "differs", "by chance"), np.nan)
    found = inconsistency(scores, own, labels)
    return {"error": error(scores, labels), "differs": found.share, "by chance": found.by_chance}


def _machines(train: GatedRows, test: GatedRows, labels: Array) -> dict[str, tuple[Array, float]]:
    """Outputs on test rows, and for the group norm its smallest value."""
    machine = min_group_norm_machine(train, labels)
    mixed_train, mixed_test = published_groups(train), published_groups(test)
    mixed = min_group_norm_machine(mixed_train, labels)
    kernels = {
        "l2 of units": (context_kernel("units", train), context_kernel("units", test, train)),
        "l2 of effective weights": (
            context_kernel("effective", train),
            context_kernel("effective", test, train),
        ),
        "published l2": (published_l2_kernel(mixed_train), published_l2_kernel(mixed_test, mixed_train)),
    }
    found = {
        "group norm": (machine.predict(test), machine.bound),
        "published groups": (mixed.predict(mixed_test), np.nan),
    }
    for name, (own, other) in kernels.items():
        found[name] = (kernel_margin(own, labels).predict(other), np.nan)
    return found


def longer_training(rows: LabelledRows, *, units: int, steps: Sequence[int], momentum: float) -> Values:
    """One net after more and more steps: its norm over the smallest one, and how often it differs from its limit.

    **Returns:** `norm ratio`, `differs` and `net error`, each `(steps,)`.
    """
    gates = rows.gates(units=units, bits=1, median=True)
    train, test = rows.gated(gates)
    machine = min_group_norm_machine(train, rows.train_labels)
    limit = machine.predict(test)
    found: dict[str, list[float]] = {"norm ratio": [], "differs": [], "net error": []}
    for count in steps:
        net = gated_net(rows, gates, steps=count, momentum=momentum)
        size = size_of_parts(parts(net))
        found["norm ratio"].append(
            norm_ratio(outputs(net, rows.train), rows.train_labels, size, machine.bound)
        )
        own = outputs(net, rows.test)
        found["differs"].append(inconsistency(limit, own).share)
        found["net error"].append(error(own, rows.test_labels))
    return found


def rectified(rows: LabelledRows, *, units: Sequence[int], steps: int, momentum: float) -> Values:
    """Trained rectified nets, and what their hidden layer, their gates and random gates explain.

    **Returns:**

    `net error`, and for each of the three `... error`, `... differs` and `... by chance`, all `(units,)`;
    `gates separate` (1 if the gates alone separate the labels).
    """
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    n, y = len(rows.train), rows.train_labels
    together = np.concatenate([rows.train, rows.test])
    for count in units:
        net = rectified_net(rows, count, steps=steps, momentum=momentum)
        before = together @ hidden_weights(net)
        own = outputs(net, rows.test)
        note("net error", error(own, rows.test_labels))
        for name, scores in _explanations(together, before, n, y, rows.seed).items():
            for what, value in _compared(scores, own, rows.test_labels).items():
                note(f"{name} {what}", value)
        on = (before[:n] > 0).astype(float)
        try:
            kernel_margin(on @ on.T, y)
            note("gates separate", 1.0)
        except InseparableError:
            note("gates separate", 0.0)
    return found


def _explanations(x: Array, before: Array, n: int, y: Array, seed: int) -> dict[str, Array]:
    hidden = np.maximum(before, 0)
    gram = hidden[:n] @ hidden[:n].T
    found = {}
    try:
        found["hidden layer"] = hidden[n:] @ (hidden[:n].T @ kernel_margin(gram, y).signed)
    except InseparableError:
        found["hidden layer"] = np.full(len(x) - n, np.nan)
    drawn = median_gates(x, before.shape[1], np.arange(n), seed=seed)
    for name, gates in (("learned gates", before > 0), ("random gates", drawn)):
        try:
            machine = min_group_norm_machine(GatedRows.of(x[:n], gates[:n]), y)
            found[name] = machine.predict(GatedRows.of(x[n:], gates[n:]))
        except InseparableError:
            found[name] = np.full(len(x) - n, np.nan)
    return found
