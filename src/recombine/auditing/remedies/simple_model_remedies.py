"""Remedies that replace the model, or its last stage, by a simple one that knows more about unseen cells."""

from __future__ import annotations

from recombine.auditing.refits import Refit
from recombine.auditing.remedies.architecture_remedies import interactions
from recombine.auditing.remedies.remedy import Remedy, lines
from recombine.report import number
from recombine.tasks.task import Kind


def simple_model(framework: str, kind: Kind, refit: Refit, error: float) -> Remedy:
    """For data that a simple model understands better than the user's.

    **Arguments:**

    - `error`: of the user's model on unseen cells.
    """
    numbers = (
        f"Fitted to the seen cells, it has an error of {number(refit.held_out.value)} on seen cells that were left out "
        f"and of {number(refit.unseen.value)} on the unseen ones, where your model has {number(error)}."
    )
    if refit.name == "product":
        remedy = interactions(framework)
        return Remedy(remedy.id, remedy.title, f"{numbers} {remedy.why}", remedy.snippet, refit=refit.name)
    titles = {
        "additive_1": "let the prediction be a sum of effects of single factors",
        "additive_2": "let the prediction be a sum of effects of single factors and pairs",
        "logistic": "let the scores of classes be sums of effects of single factors",
        "kernel": "use a kernel machine on the levels, with the saliences that suit the targets",
        "nearest_seen_cell": "predict the mean of the nearest seen cells",
    }
    if refit.name.startswith("level:"):
        factor = refit.name.removeprefix("level:")
        return Remedy(
            "one_factor",
            f"let the prediction depend on {factor} alone",
            numbers,
            (label_one_factor_code if kind == "classification" else one_factor_code)(framework),
            refit=refit.name,
        )
    labels = kind == "classification"
    code = {
        "additive_1": score_code if labels else sum_code,
        "additive_2": pair_score_code if labels else pairs_code,
        "logistic": score_code,
        "kernel": label_kernel_code if labels else kernel_code,
        "nearest_seen_cell": label_nearest_code if labels else nearest_code,
    }[refit.name]
    return Remedy(f"fit_{refit.name}", titles[refit.name], numbers, code(framework), refit=refit.name)


def sum_code(framework: str) -> str:
    """One number per level and output, added up."""
    if framework == "torch":
        return lines(
            """
            import torch

            net = torch.nn.Linear(x.shape[1], y.shape[1])  # x: one-hot codes of the factors in a row
            """
        )
    if framework == "jax":
        return lines(
            """
            import equinox as eqx
            import jax

            # x: one-hot codes of the factors in a row
            net = eqx.nn.Linear(x.shape[1], y.shape[1], key=jax.random.key(0))
            """
        )
    return lines(
        """
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        # numbers: (rows, factors), the levels of training rows
        model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge(1e-3)).fit(numbers, y)
        """
    )


def pairs_code(framework: str) -> str:
    """One number per level, and one per pair of levels."""
    return lines(
        """
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

        # numbers: (rows, factors), the levels of training rows
        codes, pairs = OneHotEncoder(handle_unknown="ignore"), PolynomialFeatures(2, interaction_only=True)
        model = make_pipeline(codes, pairs, Ridge(1e-3)).fit(numbers, y)
        """
    )


def score_code(framework: str) -> str:
    """One number per level and class, added up to scores."""
    return lines(
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        # numbers: (rows, factors), the levels of training rows
        scores = LogisticRegression(C=100, max_iter=2000)
        model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), scores).fit(numbers, label)
        """
    )


def kernel_code(framework: str) -> str:
    """A kernel machine with the saliences that the audit estimated."""
    return lines(
        """
        from sklearn.kernel_ridge import KernelRidge

        saliences = report.refits.predictors["kernel"].saliences  # estimated from the seen cells
        # numbers: (rows, factors), the numbers of the levels of training rows
        mean = y.mean(0)
        model = KernelRidge(kernel="precomputed", alpha=saliences.noise)
        model.fit(saliences.gram(numbers, numbers), y - mean)
        # predictions for others: mean + model.predict(saliences.gram(others, numbers))
        """
    )


def nearest_code(framework: str) -> str:
    """The mean of the nearest seen cells, by the number of levels that differ."""
    return lines(
        """
        from sklearn.neighbors import KNeighborsRegressor

        # numbers: (rows, factors), the numbers of the levels of training rows
        model = KNeighborsRegressor(5, metric="hamming").fit(numbers, y)
        """
    )


def label_nearest_code(framework: str) -> str:
    """The commonest label of the nearest seen cells, by the number of levels that differ."""
    return lines(
        """
        from sklearn.neighbors import KNeighborsClassifier

        # numbers: (rows, factors), the numbers of the levels of training rows
        model = KNeighborsClassifier(5, metric="hamming").fit(numbers, label)
        """
    )


def label_kernel_code(framework: str) -> str:
    """A classifier with the saliences that the audit estimated."""
    return lines(
        """
        from sklearn.svm import SVC

        saliences = report.refits.predictors["kernel"].saliences  # estimated from the seen cells
        # numbers: (rows, factors), the numbers of the levels of training rows
        model = SVC(kernel="precomputed", C=1 / saliences.noise).fit(saliences.gram(numbers, numbers), label)
        # labels of others: model.predict(saliences.gram(others, numbers))
        """
    )


def pair_score_code(framework: str) -> str:
    """One number per level, pair of levels and class, added up to scores."""
    return lines(
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

        # numbers: (rows, factors), the levels of training rows
        codes, pairs = OneHotEncoder(handle_unknown="ignore"), PolynomialFeatures(2, interaction_only=True)
        model = make_pipeline(codes, pairs, LogisticRegression(C=100, max_iter=2000)).fit(numbers, label)
        """
    )


def label_one_factor_code(framework: str) -> str:
    """The commonest label of every level of one factor."""
    return lines(
        """
        from collections import Counter

        # level: (rows,), the factor's level of training rows
        pairs = list(zip(level, label))
        commonest = {one: Counter(y for other, y in pairs if other == one).most_common(1)[0][0] for one in set(level)}
        """
    )


def one_factor_code(framework: str) -> str:
    """The mean target of every level of one factor."""
    return lines(
        """
        import numpy as np

        # level: (rows,), the factor's level of training rows
        mean = {one: np.asarray(y)[np.asarray(level) == one].mean(axis=0) for one in set(level)}
        """
    )
