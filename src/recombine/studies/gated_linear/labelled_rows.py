"""Training and test rows of one seed with two classes, and random gates on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from recombine.nets.gated import HyperplaneGates, at_quantiles, random_gates
from recombine.tasks import Task
from recombine.tasks.modular import train_and_test
from recombine.theory.gated import GatedRows

Array = np.ndarray
GATE_STREAM, WEIGHT_STREAM, SPLIT_STREAM = 1, 2, 3
"""Gates, weights (with the order of batches) and splits have seeds of their own."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of one seed, whose last input is a constant 1, with labels -1 and 1.

    - `everything`: all rows of the source, for thresholds at the median.
    """

    train: Float[Array, "train inputs"]
    train_labels: Float[Array, " train"]
    test: Float[Array, "test inputs"]
    test_labels: Float[Array, " test"]
    everything: Float[Array, "images inputs"]
    seed: int

    @property
    def inputs(self) -> int:
        """All inputs with the constant."""
        return self.train.shape[1]

    def where(self, kept: Array) -> LabelledRows:
        """The same with only some of the training rows."""
        return replace(self, train=self.train[kept], train_labels=self.train_labels[kept])

    def task(self) -> Task:
        """For training by gradient descent; test rows are the unseen part."""
        split, cell = train_and_test(len(self.train), len(self.test))
        targets = np.concatenate([self.train_labels, self.test_labels])[:, None]
        return Task(split, np.concatenate([self.train, self.test]), targets, cell=cell)

    def stream(self, number: int) -> int:
        """A seed for one kind of random choice."""
        return 10 * self.seed + number

    def gates(self, *, units: int, bits: int, median: bool) -> HyperplaneGates:
        """Random gates of this seed, with thresholds at the median of all rows or as they were drawn."""
        key = jax.random.key(self.stream(GATE_STREAM))
        drawn = random_gates(units=units, inputs=self.inputs, bits=bits, key=key)
        return at_quantiles(drawn, self.everything) if median and bits else drawn

    def gated(self, gates: HyperplaneGates) -> tuple[GatedRows, GatedRows]:
        """Training and test rows with the contexts of all units."""
        made = [
            GatedRows.of(x, np.asarray(gates(jnp.asarray(x, dtype=jnp.float32))), n_contexts=gates.shape[1])
            for x in (self.train, self.test)
        ]
        return made[0], made[1]
