"""Conjunctions of contexts that training never shows: what is predicted there, by machines and by trained nets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from recombine.metrics import inconsistency
from recombine.studies.gated_linear.labelled_rows import Array, LabelledRows
from recombine.studies.gated_linear.training import error, gated_net, outputs
from recombine.theory.gated import (
    GatedRows,
    InseparableError,
    context_kernel,
    kernel_margin,
    min_group_norm_machine,
)

Values = dict[str, Any]
SOFT_COST = 1.0
"""Of slack, for a machine without gates that cannot separate the labels."""


def composed_rows(*, inputs: int, units: int, train: int, test: int, seed: int = 0) -> LabelledRows:
    """Gaussian inputs whose labels are sums of parts: the sign of a two-layer gated network with random weights.

    Students get the same gates; whether a conjunction can be learned from others is then a question of composition
    alone.
    """
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=(train + test, inputs)), np.ones((train + test, 1))], axis=1)
    blank = np.zeros(0)
    rows = LabelledRows(x[:train], blank, x[train:], blank, x, seed)
    gated = rows.gated(rows.gates(units=units, bits=1, median=True))
    parts = rng.normal(size=(units, 2, inputs + 1))
    labels = [np.where(half.predict(parts) > 0, 1.0, -1.0) for half in gated]
    return LabelledRows(x[:train], labels[0], x[train:], labels[1], x, seed)


def unseen_conjunctions(rows: LabelledRows, *, units: int, steps: int) -> Values:
    """Units with two contexts each; one joint context after another is left out of training.

    **Returns:**

    For each joint context:

    - `two layers`, `one layer` and `linear`: errors there of the machine of minimum group norm, which adds parts; of
      one unit whose gate is the conjunction; and of a machine without gates. `net`: that of a trained net;
    - `differs from sums`, `differs from linear`: how often the net predicts another class there than the first and the
      last of these machines, each with its value if both erred independently, `... by chance`;
    - `seen`: the first machine's error on the other contexts.
    """
    gates = rows.gates(units=units, bits=1, median=True)
    train, test = rows.gated(gates)
    found: dict[str, list[float]] = {}
    for joint in product((0, 1), repeat=units):
        kept, out = ~_inside(train, joint), _inside(test, joint)
        subset, labels = rows.where(kept), rows.test_labels[out]
        seen, y = GatedRows(train.inputs[kept], train.indicator[kept]), subset.train_labels
        left_out = GatedRows(test.inputs[out], test.indicator[out])
        machine = min_group_norm_machine(seen, y)
        sums = machine.predict(left_out)
        alone = kernel_margin(context_kernel("joint", seen), y)
        linear = _linear(seen.inputs, y, left_out.inputs)
        net = outputs(gated_net(subset, gates, steps=steps, momentum=0.9), rows.test[out])
        values = {
            "two layers": error(sums, labels),
            "one layer": error(alone.predict(context_kernel("joint", left_out, seen)), labels),
            "linear": error(linear, labels),
            "net": error(net, labels),
            "seen": error(machine.predict(test)[~out], rows.test_labels[~out]),
        }
        for name, scores in (("sums", sums), ("linear", linear)):
            compared = inconsistency(scores, net, labels)
            values |= {
                f"differs from {name}": compared.share,
                f"differs from {name} by chance": compared.by_chance,
            }
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return found


def _linear(x: Array, y: Array, others: Array) -> Array:
    """A machine without gates of maximum margin, with slack if it cannot separate the labels."""
    gram = x @ x.T
    try:
        machine = kernel_margin(gram, y)
    except InseparableError:
        machine = kernel_margin(gram, y, kind="soft margin", cost=SOFT_COST)
    return machine.predict(others @ x.T)


def _inside(rows: GatedRows, joint: tuple[int, ...]) -> Array:
    """Which rows are in a joint context."""
    used = [rows.indicator[:, unit, context] for unit, context in enumerate(joint)]
    return np.all(np.array(used) > 0, axis=0)
