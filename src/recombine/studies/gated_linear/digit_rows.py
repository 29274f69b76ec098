"""Digits 0 to 4 against 5 to 9: MNIST if it is on this machine, else the digits of scikit-learn; and gates on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from recombine.nets.gated import HyperplaneGates, at_quantiles, random_gates
from recombine.tasks import Task, datasets
from recombine.tasks.modular import train_and_test
from recombine.theory.gated import GatedRows

Array = np.ndarray
GATE_STREAM, WEIGHT_STREAM, SPLIT_STREAM = 1, 2, 3
"""Gates, weights (with the order of batches) and splits have seeds of their own."""


@dataclass(frozen=True, eq=False)
class DigitRows:
    """Rows of one seed: pixels from -1 to 1 and a constant 1, labels -1 and 1.

    - `everything`: all images of the source, for thresholds at the median.
    """

    train: Float[Array, "train inputs"]
    train_labels: Float[Array, " train"]
    test: Float[Array, "test inputs"]
    test_labels: Float[Array, " test"]
    everything: Float[Array, "images inputs"]
    seed: int

    @property
    def inputs(self) -> int:
        """Pixels and the constant."""
        return self.train.shape[1]

    def task(self) -> Task:
        """For training by gradient descent; test rows are the unseen part."""
        split, cell = train_and_test(len(self.train), len(self.test))
        targets = np.concatenate([self.train_labels, self.test_labels])[:, None]
        return Task(split, np.concatenate([self.train, self.test]), targets, cell=cell)

    def stream(self, number: int) -> int:
        """A seed for one kind of random choice."""
        return 10 * self.seed + number

    def gates(self, *, units: int, bits: int, median: bool) -> HyperplaneGates:
        """Random gates of this seed, with thresholds at the median of all images or as they were drawn."""
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


@lru_cache(maxsize=2)
def _images(source: str) -> tuple[Array, Array]:
    if source == "mnist":
        images, labels = datasets.load("mnist")
        pixels = images.reshape(len(images), -1) / 127.5 - 1
    else:
        from sklearn.datasets import load_digits

        digits = load_digits()
        pixels, labels = digits.data / 8 - 1, digits.target
    x = np.concatenate([pixels, np.ones((len(pixels), 1))], axis=1).astype(np.float32)
    return x, np.where(labels < 5, 1.0, -1.0)


def digit_rows(*, source: str, train: int, test: int, seed: int = 0) -> DigitRows:
    """Draws training and test rows without overlap.

    **Arguments:**

    - `source`: `"mnist"` or `"digits"`.
    """
    x, y = _images(source)
    order = np.random.default_rng([seed, SPLIT_STREAM]).permutation(len(x))
    first, last = order[:train], order[-test:]
    return DigitRows(x[first].astype(float), y[first], x[last].astype(float), y[last], x, seed)


def source(scale: str) -> str:
    """MNIST if it is here, but the small digits at scale smoke."""
    return "mnist" if scale != "smoke" and datasets.find("mnist") is not None else "digits"
