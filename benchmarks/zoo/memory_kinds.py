"""Neighbours, trees, forests and kernels of scikit-learn: models that store cells."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design
from benchmarks.zoo.estimators import codes, estimator, leaf_weights, neighbour_weights, numbers
from benchmarks.zoo.sample import Fitted, Sample, noisy_labels, noisy_numbers


def nearest_product(rng: np.random.Generator) -> Sample:
    """The nearest stored rows, by level numbers, where factors multiply."""
    design = draw_design(rng, ordered=True, factors=(2, 3, 4))
    clean = tasks.products(rng, design, ordered=bool(rng.random() < 0.3), low=-1.5)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    fit = estimator(lambda seed: KNeighborsRegressor(1), numbers, neighbour_weights)
    return Sample(design, clean, target, fit, noise)


def nearest_modular(rng: np.random.Generator) -> Sample:
    """Modular addition by the nearest stored row."""
    size = int(rng.integers(7, 14))
    design = draw_design(rng, sizes=(size, size), ordered=True, rows=(1, 2, 4))
    clean = tasks.modular_labels(design)
    fit = estimator(lambda seed: KNeighborsClassifier(1), numbers, neighbour_weights)
    return Sample(design, clean, clean[design.cell], fit, "no noise")


def nearest_labels(rng: np.random.Generator) -> Sample:
    """A random label for every cell, looked up in the nearest stored row by level numbers."""
    design = draw_design(rng, ordered=True, rows=(1, 2, 4, 8))
    clean = tasks.table_labels(rng, design, int(rng.integers(3, 7)))
    target, noise = noisy_labels(
        rng, design, clean, (0.0, 0.1) if design.training_rows.max() >= 4 else (0.0,)
    )
    fit = estimator(
        lambda seed: KNeighborsClassifier(int(max(1, np.median(design.training_rows[design.seen])))),
        numbers,
        neighbour_weights,
    )
    return Sample(design, clean, target, fit, noise)


def forest_sales(rng: np.random.Generator) -> Sample:
    """Fully grown trees on multiplicative sales."""
    design = draw_design(rng, ordered=True, levels=(4, 7), unseen=(0.25, 0.4))
    clean = tasks.sales(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    fit = estimator(lambda seed: RandomForestRegressor(40, random_state=seed), numbers, leaf_weights)
    return Sample(design, clean, target, fit, noise)


def forest_table(rng: np.random.Generator) -> Sample:
    """A random label for every cell, stored in fully grown trees."""
    design = draw_design(rng, ordered=True, factors=(2, 3, 4), rows=(1, 4, 8))
    clean = tasks.table_labels(rng, design, int(rng.integers(2, 6)))
    target, noise = noisy_labels(
        rng, design, clean, (0.0, 0.1) if design.training_rows.max() >= 4 else (0.0,)
    )
    fit = estimator(lambda seed: RandomForestClassifier(40, random_state=seed), numbers, leaf_weights)
    return Sample(design, clean, target, fit, noise)


def tree_product(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, ordered=True)
    clean = tasks.products(rng, design, low=-1.5)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    fit = estimator(lambda seed: DecisionTreeRegressor(random_state=seed), numbers, leaf_weights)
    return Sample(design, clean, target, fit, noise)


def boosting_sales(rng: np.random.Generator) -> Sample:
    """Gradient boosting on multiplicative sales: a small error next to a constant's, and many times the seen one."""
    design = draw_design(rng, ordered=True, factors=(3,), levels=(4, 6), rows=(2, 4, 8), unseen=(0.25, 0.4))
    clean = tasks.sales(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.05))
    fit = estimator(
        lambda seed: GradientBoostingRegressor(n_estimators=200, max_depth=3, random_state=seed), numbers
    )
    return Sample(design, clean, target, fit, noise)


def process_narrow(rng: np.random.Generator) -> Sample:
    """A Gaussian process whose kernel hardly reaches the next level: it returns to the mean between stored cells."""
    design = draw_design(rng, ordered=True, rows=(1, 2, 4), cells=(40, 150))
    clean = tasks.products(rng, design, ordered=True, low=-1.0)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    width = float(rng.uniform(0.5, 0.8))
    make = estimator(
        lambda seed: GaussianProcessRegressor(RBF(width), alpha=0.05, optimizer=None, normalize_y=True),
        numbers,
    )
    return Sample(design, clean, target, make, f"width {width:.2f}, {noise}")


def kernel_cells(rng: np.random.Generator) -> Sample:
    """Kernel regression on a sum, with much weight on whole cells: predictions for unseen cells shrink."""
    design = draw_design(rng, rows=(1, 2, 4), cells=(40, 200))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    salience = float(rng.uniform(5, 15))

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        rows = design.cells[design.cell[design.train]]
        centre = target[design.train].mean(axis=0)

        def kernel(one: np.ndarray) -> np.ndarray:
            same = one[:, None] == rows[None]
            return same.sum(axis=2) + salience * same.all(axis=2)

        weights = np.linalg.solve(kernel(rows) + 0.05 * np.eye(len(rows)), target[design.train] - centre)
        return Fitted(lambda cells: centre + kernel(cells) @ weights)

    return Sample(design, clean, target, fit, f"salience {salience:.1f}, {noise}")


def vector_machine_sum(rng: np.random.Generator) -> Sample:
    """A support vector machine with a narrow Gaussian kernel on one-hot codes, on a sum."""
    design = draw_design(rng, rows=(1, 2, 4))
    clean = tasks.sums(rng, design)
    clean = (clean - clean.mean()) / clean.std()
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    gamma = float(rng.uniform(1.0, 2.0))
    return Sample(
        design, clean, target, estimator(lambda seed: SVR(C=100.0, gamma=gamma, epsilon=0.01), codes), noise
    )


def second_output_stored(rng: np.random.Generator) -> Sample:
    """Two outputs on very different scales: a sum by ridge regression, a product by the nearest stored row."""
    design = draw_design(rng, ordered=True, cells=(60, 200))
    clean = np.concatenate([tasks.sums(rng, design), tasks.products(rng, design, low=-1.5)], axis=1)
    clean = clean * 10 ** np.array([rng.uniform(0, 3), rng.uniform(-3, 0)])
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    ridge = estimator(lambda seed: Ridge(0.05), codes)
    nearest = estimator(lambda seed: KNeighborsRegressor(1), numbers, neighbour_weights)

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        first, second = ridge(design, target[:, :1], seed), nearest(design, target[:, 1:], seed)
        return Fitted(
            lambda cells: np.concatenate([first.predict(cells), second.predict(cells)], axis=1), second.stored
        )

    return Sample(design, clean, target, fit, noise)


def forest_one_factor(rng: np.random.Generator) -> Sample:
    """Labels that one factor decides; a forest finds out that the others do not matter."""
    design = draw_design(rng, rows=(4, 8, 20))
    axis, classes = int(rng.integers(len(design.sizes))), int(rng.integers(2, 4))
    clean = tasks.group_labels(rng, design.sizes[axis], classes)[design.cells[:, axis]]
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1, 0.2))
    forest = estimator(
        lambda seed: RandomForestClassifier(60, min_samples_leaf=5, max_features=None, random_state=seed),
        codes,
    )
    return Sample(design, clean, target, forest, noise)


def forest_shallow(rng: np.random.Generator) -> Sample:
    """Trees of depth 2 or 3, which are as wrong on seen cells as on unseen ones."""
    design = draw_design(rng, ordered=True, factors=(2, 3, 4))
    clean = tasks.sums(rng, design, ordered=True) if rng.random() < 0.5 else tasks.sales(rng, design)
    target, noise = noisy_numbers(rng, design, clean)
    depth = int(rng.integers(2, 4))
    fit = estimator(lambda seed: RandomForestRegressor(40, max_depth=depth, random_state=seed), numbers)
    return Sample(design, clean, target, fit, f"depth {depth}, {noise}")


def random_features(rng: np.random.Generator) -> Sample:
    """Labels from random waves of so high a frequency that what is learned in one cell says nothing about another."""
    design = draw_design(rng, ordered=True, rows=(1, 2, 4))
    size = int(rng.integers(3, 6))
    clean = tasks.score_labels(rng, design, size)
    target, noise = noisy_labels(rng, design, clean, (0.0,))
    fit = estimator(
        lambda seed: make_pipeline(
            RBFSampler(gamma=30.0, n_components=400, random_state=seed), LogisticRegression(C=1e4)
        ),
        numbers,
    )
    return Sample(design, clean, target, fit, noise)


def perceptron_sum_sklearn(rng: np.random.Generator) -> Sample:
    """scikit-learn's perceptron on a sum, with some regularisation."""
    design = draw_design(rng, factors=(2, 3), cells=(100, 260), unseen=(0.1, 0.25), rows=(2, 4, 8))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    fit = estimator(
        lambda seed: MLPRegressor(
            hidden_layer_sizes=(32,), solver="lbfgs", alpha=1.0, max_iter=300, random_state=seed
        ),
        codes,
    )
    return Sample(design, clean, target, fit, noise)


KINDS = {
    one.__name__: one
    for one in (
        nearest_product,
        nearest_modular,
        nearest_labels,
        forest_sales,
        forest_table,
        tree_product,
        boosting_sales,
        process_narrow,
        kernel_cells,
        vector_machine_sum,
        second_output_stored,
        forest_one_factor,
        forest_shallow,
        random_features,
        perceptron_sum_sklearn,
    )
}
