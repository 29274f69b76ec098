"""scikit-learn estimators as models of cells: how levels are encoded, and what trees and neighbours have stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.zoo.designs import Design, one_hot
from benchmarks.zoo.sample import Fit, Fitted

Encode = Callable[[np.ndarray, Design], np.ndarray]


def codes(cells: np.ndarray, design: Design) -> np.ndarray:
    """One-hot codes of the levels."""
    return one_hot(cells, design.sizes)


def numbers(cells: np.ndarray, design: Design) -> np.ndarray:
    """Level numbers, for factors in order."""
    return cells.astype(float)


def shares(cells: np.ndarray, design: Design) -> np.ndarray:
    """Level numbers from 0 to 1."""
    return cells / (np.array(design.sizes) - 1)


def estimator(make: Callable[[int], Any], encode: Encode = codes, stored: Any = None) -> Fit:
    """Trains a scikit-learn estimator on the training rows.

    **Arguments:**

    - `make`: from a seed to an estimator.
    - `stored`: from the estimator, training inputs and other inputs to the weights of training rows.
    """

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        x = encode(design.cells[design.cell[design.train]], design)
        y = target[design.train]
        single = y.ndim == 2 and y.shape[1] == 1
        model = make(seed).fit(x, y[:, 0] if single else y)

        def predict(cells: np.ndarray) -> np.ndarray:
            out = model.predict(encode(cells, design))
            return out if y.ndim == 1 else np.asarray(out).reshape(len(cells), -1)

        weights = None if stored is None else lambda cells: stored(model, x, encode(cells, design))
        return Fitted(predict, weights)

    return fit


def neighbour_weights(model: Any, x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The stored rows that nearest neighbours average."""
    index = model.kneighbors(other, return_distance=False)
    weights = np.zeros((len(other), len(x)))
    np.put_along_axis(weights, index, 1 / index.shape[1], axis=1)
    return weights


def leaf_weights(model: Any, x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How often a stored row is in the same leaf of a tree that was grown with it, which is what a forest averages."""
    ours, theirs = (np.asarray(model.apply(one)).reshape(len(one), -1) for one in (x, other))
    drawn = getattr(model, "estimators_samples_", [np.arange(len(x))] * ours.shape[1])
    weights = np.zeros((len(other), len(x)))
    for tree, rows in enumerate(drawn):
        times = np.bincount(rows, minlength=len(x))
        same = (theirs[:, tree, None] == ours[None, :, tree]) * times
        weights += same / np.maximum(same.sum(axis=1, keepdims=True), 1)
    return weights / ours.shape[1]
