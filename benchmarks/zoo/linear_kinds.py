"""Linear and additive models of scikit-learn: composers of sums, and failures where the task is not a sum."""

from __future__ import annotations

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.svm import LinearSVC

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design
from benchmarks.zoo.estimators import codes, estimator, numbers, shares
from benchmarks.zoo.sample import Sample, noisy_labels, noisy_numbers

ROWS_TO_VOTE = (4, 8, 20)
"""Rows per cell with which flipped labels can be estimated."""


def ridge_sum(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, factors=(2, 3, 4, 5), levels=(3, 8))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, estimator(lambda seed: Ridge(0.05)), noise)


def linear_ordered(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, ordered=True)
    clean = tasks.sums(rng, design, ordered=True)
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, estimator(lambda seed: LinearRegression(), numbers), noise)


def ridge_scales(rng: np.random.Generator) -> Sample:
    """Several sums as outputs, on scales that differ by up to a million."""
    design = draw_design(rng)
    count = int(rng.integers(2, 5))
    clean = tasks.sums(rng, design, count) * 10 ** rng.uniform(-3, 3, size=count)
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, estimator(lambda seed: Ridge(0.05)), f"{count} outputs, {noise}")


def log_ridge_sales(rng: np.random.Generator) -> Sample:
    """Multiplicative sales, of which the logarithm is fitted; the noise is multiplicative, too."""
    design = draw_design(rng, ordered=True, factors=(2, 3, 4))
    clean = tasks.sales(rng, design)
    share = float(rng.choice([0.0, 0.05, 0.1]))
    target = clean[design.cell] * np.exp(share * rng.normal(size=(len(design.cell), 1)))
    make = estimator(
        lambda seed: TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp), numbers
    )
    return Sample(design, clean, target, make, f"noise {share:g} of each")


def spline_gam(rng: np.random.Generator) -> Sample:
    """Smooth effects of ordered factors, fitted by splines."""
    design = draw_design(rng, ordered=True, levels=(7, 12))
    steps = shares(design.cells, design)
    waves, phases = rng.uniform(0.5, 1.0, len(design.sizes)), rng.uniform(0, 6, len(design.sizes))
    clean = np.sin(2 * np.pi * steps * waves + phases).sum(axis=1, keepdims=True)
    target, noise = noisy_numbers(rng, design, clean)
    make = estimator(lambda seed: make_pipeline(SplineTransformer(6), Ridge(0.01)), shares)
    return Sample(design, clean, target, make, noise)


def stumps_sum(rng: np.random.Generator) -> Sample:
    """Boosted trees of depth 1, which can only add, on a sum."""
    design = draw_design(rng, cells=(100, 300), ordered=bool(rng.random() < 0.5))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1, 0.2))
    boost = estimator(
        lambda seed: GradientBoostingRegressor(max_depth=1, n_estimators=400, learning_rate=0.2), codes
    )
    return Sample(design, clean, target, boost, noise)


def process_sum(rng: np.random.Generator) -> Sample:
    """A Gaussian process whose kernel counts shared levels."""
    design = draw_design(rng, rows=(1, 2, 4), cells=(40, 150))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean)
    make = estimator(
        lambda seed: GaussianProcessRegressor(DotProduct(1.0), alpha=0.05, optimizer=None), codes
    )
    return Sample(design, clean, target, make, noise)


def pairs_ridge(rng: np.random.Generator) -> Sample:
    """Three factors whose pairs interact, and a model with effects of all pairs."""
    design = draw_design(
        rng, factors=(3,), levels=(4, 6), cells=(80, 216), unseen=(0.12, 0.2), rows=(2, 4, 8)
    )
    effects = [rng.normal(size=(design.sizes[i], design.sizes[j])) for i, j in ((0, 1), (0, 2), (1, 2))]
    first, second, third = design.cells.T
    clean = (effects[0][first, second] + effects[1][first, third] + effects[2][second, third])[:, None]
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    make = estimator(lambda seed: make_pipeline(PolynomialFeatures(2, interaction_only=True), Ridge(0.01)))
    return Sample(design, clean, target, make, noise)


def logistic_scores(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, factors=(2, 3, 4, 5), levels=(3, 8), rows=ROWS_TO_VOTE)
    clean = tasks.score_labels(rng, design, int(rng.integers(2, 5)))
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.15, 0.3))
    return Sample(
        design, clean, target, estimator(lambda seed: LogisticRegression(C=1.0, max_iter=300)), noise
    )


def logistic_one_row(rng: np.random.Generator) -> Sample:
    """One row per cell, so that wrong labels and wrong predictions look alike."""
    design = draw_design(rng, factors=(2, 3), levels=(6, 10), cells=(80, 300), rows=(1,))
    clean = tasks.score_labels(rng, design)
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1, 0.2))
    return Sample(
        design, clean, target, estimator(lambda seed: LogisticRegression(C=1.0, max_iter=300)), noise
    )


def vector_machine_scores(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, factors=(3, 4), levels=(3, 5), rows=ROWS_TO_VOTE)
    clean = tasks.score_labels(rng, design)
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1, 0.2))
    return Sample(design, clean, target, estimator(lambda seed: LinearSVC(C=0.3)), noise)


def ridge_product(rng: np.random.Generator) -> Sample:
    """Sums where factors multiply."""
    design = draw_design(rng)
    clean = tasks.products(rng, design, low=float(rng.uniform(-2, -0.5)))
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, estimator(lambda seed: Ridge(0.05)), noise)


def stumps_product(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, ordered=True)
    clean = tasks.products(rng, design, ordered=True, low=-1.0)
    target, noise = noisy_numbers(rng, design, clean)
    boost = estimator(
        lambda seed: GradientBoostingRegressor(max_depth=1, n_estimators=200, learning_rate=0.2), numbers
    )
    return Sample(design, clean, target, boost, noise)


def spline_product(rng: np.random.Generator) -> Sample:
    """A generalised additive model where ordered factors multiply; at times several outputs."""
    design = draw_design(rng, ordered=True, levels=(6, 9))
    clean = tasks.products(rng, design, int(rng.integers(1, 3)), ordered=True, low=-1.0)
    target, noise = noisy_numbers(rng, design, clean)
    make = estimator(lambda seed: make_pipeline(SplineTransformer(5), Ridge(0.01)), shares)
    return Sample(design, clean, target, make, noise)


def logistic_parity(rng: np.random.Generator) -> Sample:
    """Scores add up where labels follow the parity of two factors, and a third one for a part of the cells."""
    design = draw_design(rng, factors=(2, 3), levels=(4, 7), rows=(1, 4, 8))
    parity, scores = tasks.parity_labels(rng, design), tasks.score_labels(rng, design)
    clean = np.where(rng.random(len(parity)) < 0.35, parity, scores)
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1))
    return Sample(
        design, clean, target, estimator(lambda seed: LogisticRegression(C=3.0, max_iter=300)), noise
    )


def one_column(rng: np.random.Generator) -> Sample:
    """A regression that was given the column of a single factor: a level's mean, whatever the others are."""
    design = draw_design(rng)
    axis = int(rng.integers(len(design.sizes)))
    clean = tasks.sums(rng, design) if rng.random() < 0.5 else tasks.products(rng, design, low=0.2)
    target, noise = noisy_numbers(rng, design, clean)

    def column(cells: np.ndarray, design: Design) -> np.ndarray:
        return np.eye(design.sizes[axis])[cells[:, axis]]

    return Sample(design, clean, target, estimator(lambda seed: Ridge(0.05), column), noise)


def heavy_ridge(rng: np.random.Generator) -> Sample:
    """So much regularisation that seen cells are not learned."""
    design = draw_design(rng)
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean)
    rows = int(design.train.sum())
    alpha = rows / np.mean(design.sizes) * rng.uniform(1.0, 4.0)
    return Sample(design, clean, target, estimator(lambda seed: Ridge(alpha)), noise)


def stumps_outputs(rng: np.random.Generator) -> Sample:
    """Two outputs on different scales: a sum, and a product to which boosted stumps are not equal."""
    design = draw_design(rng, ordered=True, cells=(60, 200))
    both = [tasks.sums(rng, design, ordered=True), tasks.products(rng, design, ordered=True, low=-1.0)]
    clean = np.concatenate(both, axis=1) * 10 ** rng.uniform(-3, 3, size=2)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    boost = estimator(
        lambda seed: MultiOutputRegressor(
            GradientBoostingRegressor(max_depth=1, n_estimators=300, learning_rate=0.2)
        ),
        numbers,
    )
    return Sample(design, clean, target, boost, noise)


KINDS = {
    one.__name__: one
    for one in (
        ridge_sum,
        linear_ordered,
        ridge_scales,
        log_ridge_sales,
        spline_gam,
        stumps_sum,
        process_sum,
        pairs_ridge,
        logistic_scores,
        logistic_one_row,
        vector_machine_scores,
        ridge_product,
        stumps_product,
        spline_product,
        logistic_parity,
        one_column,
        heavy_ridge,
        stumps_outputs,
    )
}
