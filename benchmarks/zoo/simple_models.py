"""Simple models that a remedy may tell a user to fit instead, by NumPy and scikit-learn alone."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import PolynomialFeatures

from benchmarks.zoo.designs import Design, one_hot
from benchmarks.zoo.sample import Predict

ALTERNATIONS, PRODUCT_STARTS, PRODUCT_RIDGE = 40, 6, 0.01
"""Rounds of least squares for a product, random starts, and a ridge relative to the mean weight of a level."""


def fit_simple(name: str, design: Design, target: np.ndarray) -> Predict:
    """Fits a model by its name: `additive_1`, `additive_2`, `product`, `kernel`, `level:<factor>`,
    `logistic`, `nearest_seen_cell`."""
    x, y = design.cells[design.cell[design.train]], target[design.train]
    if name.startswith("additive_"):
        return _additive(int(name.removeprefix("additive_")), design.sizes, x, y)
    if name == "logistic":
        return _additive(1, design.sizes, x, y)
    if name == "product":
        return _product(design.sizes, x, y)
    if name == "kernel":
        return _kernel(design.sizes, x, y)
    if name == "nearest_seen_cell":
        return _nearest(x, y)
    if name == "constant":
        return _level(np.zeros(len(x), dtype=int), lambda cells: np.zeros(len(cells), dtype=int), y)
    if name.startswith("level:"):
        axis = list(design.names).index(name.removeprefix("level:"))
        return _level(x[:, axis], lambda cells: cells[:, axis], y)
    raise ValueError(f"no simple model is called {name!r}")


def _additive(order: int, sizes: tuple[int, ...], x: np.ndarray, y: np.ndarray) -> Predict:
    powers = PolynomialFeatures(order, interaction_only=True, include_bias=False)
    codes = powers.fit_transform(one_hot(x, sizes))
    model = LogisticRegression(C=3.0, max_iter=500) if y.ndim == 1 else Ridge(0.1)
    model.fit(codes, y)

    def predict(cells: np.ndarray) -> np.ndarray:
        out = np.asarray(model.predict(powers.transform(one_hot(cells, sizes))))
        return out if y.ndim == 1 else out.reshape(len(cells), -1)

    return predict


def _product(sizes: tuple[int, ...], x: np.ndarray, y: np.ndarray) -> Predict:
    """A product of one number per level for every output; labels have one output per class."""
    values = np.eye(int(y.max()) + 1)[y] if y.ndim == 1 else y
    rng = np.random.default_rng(0)
    best = [np.zeros((size, values.shape[1])) for size in sizes]
    lowest = np.full(values.shape[1], np.inf)
    for _ in range(PRODUCT_STARTS):
        tables = _alternate(rng, sizes, x, values)
        error = ((np.prod([table[x[:, i]] for i, table in enumerate(tables)], axis=0) - values) ** 2).mean(
            axis=0
        )
        for output in np.flatnonzero(error < lowest):
            lowest[output] = error[output]
            for kept, table in zip(best, tables, strict=True):
                kept[:, output] = table[:, output]

    def predict(cells: np.ndarray) -> np.ndarray:
        out = np.prod([table[cells[:, i]] for i, table in enumerate(best)], axis=0)
        return out.argmax(axis=1) if y.ndim == 1 else out

    return predict


def _alternate(
    rng: np.random.Generator, sizes: tuple[int, ...], x: np.ndarray, values: np.ndarray
) -> list[np.ndarray]:
    """Least squares of one factor's numbers at a time, with a little ridge; all but the last one have unit size."""
    tables = [rng.normal(size=(size, values.shape[1])) for size in sizes]
    for _ in range(ALTERNATIONS):
        for axis in range(len(sizes)):
            rest = np.prod([tables[i][x[:, i]] for i in range(len(sizes)) if i != axis], axis=0)
            top, bottom = np.zeros_like(tables[axis]), np.zeros_like(tables[axis])
            np.add.at(top, x[:, axis], rest * values)
            np.add.at(bottom, x[:, axis], rest**2)
            tables[axis] = top / (bottom + PRODUCT_RIDGE * bottom.mean(axis=0) + 1e-300)
            if axis < len(sizes) - 1:
                tables[axis] /= np.sqrt((tables[axis] ** 2).mean(axis=0)) + 1e-12
    return tables


def _kernel(sizes: tuple[int, ...], x: np.ndarray, y: np.ndarray) -> Predict:
    """A Gaussian process on one-hot codes, by cells: its width and noise are estimated."""
    codes, index = np.unique(x, axis=0, return_inverse=True)
    index = index.ravel()
    kernel = RBF(2.0) + WhiteKernel(0.01)
    if y.ndim == 1:
        votes = np.zeros((len(codes), int(y.max()) + 1))
        np.add.at(votes, (index, y), 1)
        labels = votes.argmax(axis=1)
        model = GaussianProcessClassifier(RBF(2.0)).fit(one_hot(codes, sizes), labels)
        return lambda cells: model.predict(one_hot(cells, sizes))
    means = np.zeros((len(codes), y.shape[1]))
    np.add.at(means, index, y)
    means /= np.bincount(index)[:, None]
    regressor = GaussianProcessRegressor(kernel, normalize_y=True).fit(one_hot(codes, sizes), means)
    return lambda cells: regressor.predict(one_hot(cells, sizes)).reshape(len(cells), -1)


def _nearest(x: np.ndarray, y: np.ndarray) -> Predict:
    """The mean (commonest label) of the rows that share the most levels."""

    def predict(cells: np.ndarray) -> np.ndarray:
        out = []
        for cell in cells:
            shared = (x == cell).sum(axis=1)
            near = y[shared == shared.max()]
            out.append(np.bincount(near).argmax() if y.ndim == 1 else near.mean(axis=0))
        return np.array(out)

    return predict


def _level(codes: np.ndarray, code_of: Predict, y: np.ndarray) -> Predict:
    """The mean (commonest label) of every level."""
    table = {
        int(code): np.bincount(y[codes == code]).argmax() if y.ndim == 1 else y[codes == code].mean(axis=0)
        for code in np.unique(codes)
    }
    return lambda cells: np.array([table[int(code)] for code in code_of(cells)])
