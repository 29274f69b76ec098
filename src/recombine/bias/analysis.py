"""Comparing a model with the limits of its training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from recombine.bias.distance import distance_to_limit
from recombine.bias.explanations import (
    Explanation,
    Rows,
    explain,
    gated_scores,
    hidden_layer_scores,
    median_gates,
)
from recombine.bias.rectified_layer import RectifiedLayer, as_labels, read_layer
from recombine.bias.result import BiasReport, UnseenContexts
from recombine.errors import InputError
from recombine.models.model_outputs import to_numpy
from recombine.tasks.draws import checked_seed
from recombine.theory.gated import GatedRows, context_coverage

Array = np.ndarray
MAX_ROWS = 5000
"""Training rows: the machines need the inner products of all pairs."""
MAX_COMPARED = 20_000
MAX_UNITS = 4096
"""Units of the layer; with more, one machine takes minutes."""
MIN_ROWS = 10
MIXED = 2000
"""How many mixtures of training rows to compare predictions on if the user gives no other rows."""
FITTED = 0.02
"""Outputs approximate labels -1 and 1 if they miss them by less than this (mean square, labels 1 apart)."""
DRAWS = 3
"""Draws of random gates; the one in the middle is reported."""


def implicit_bias_report(
    model: Any,
    inputs: Any,
    targets: Any,
    *,
    others: Any = None,
    other_targets: Any = None,
    layer: str | None = None,
    name: str = "model",
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> BiasReport:
    """How far a rectified network is from where its training would end, and what explains its predictions.

    **Arguments:**

    - `model`: a classifier with a hidden layer of rectified units (PyTorch, JAX or scikit-learn).
    - `inputs`, `targets`: the rows that it was trained on, with their labels (two or more classes).
    - `others`, `other_targets`: rows that it was not trained on, on which predictions are compared, and their labels if
        known. By default mixtures of two training rows each.
    - `layer`: the hidden layer; by default the last one that is rectified.
    - `seed`: of the random gates and mixtures.
    - `progress`: called with the share done.

    ```python
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPClassifier
    >>> from recombine import implicit_bias_report
    >>> x = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = np.abs(x[:, 0]) > 0.7
    >>> net = MLPClassifier((20,), max_iter=3000, alpha=0, random_state=0).fit(x, y)
    >>> implicit_bias_report(net, x, y).layer
    'hidden0'

    ```
    """
    seed = checked_seed(seed)
    tell = progress or (lambda share: None)
    inputs, others = _checked("inputs", inputs), None if others is None else _checked("others", others)
    seen, compared = _read(model, inputs, _mixtures(inputs, seed) if others is None else others, layer)
    n = len(seen.inputs)
    if not MIN_ROWS <= n <= MAX_ROWS:
        raise InputError("inputs", f"{n} rows", f"from {MIN_ROWS} to {MAX_ROWS} training rows")
    if seen.activities.shape[1] > MAX_UNITS:
        units = seen.activities.shape[1]
        raise InputError("layer", f"{seen.name}, {units} units", f"a layer of at most {MAX_UNITS} units")
    numbers, classes = as_labels(targets, n)
    if others is None and other_targets is not None:
        raise InputError("other_targets", "labels", "other rows that they belong to")
    if len(compared.inputs) > MAX_COMPARED:
        raise InputError("others", f"{len(compared.inputs)} rows", f"at most {MAX_COMPARED}")
    tell(0.1)
    together, cut = _together(seen, compared), _cut(seen, compared, numbers, classes)
    rows = _rows(together, numbers, classes, other_targets, cut)
    fit = partial(explain, rows=rows, n_classes=len(classes))
    found = [fit("hidden layer", hidden_layer_scores(together.activities, rows.train))]
    tell(0.3)
    found.append(fit("learned gates", gated_scores(together.inputs, together.gates, rows.train)))
    tell(0.5)
    found.append(_random(together, rows, fit, seed, tell))
    labels = np.where(numbers == 1, 1.0, -1.0)
    measured = len(classes) == 2 and not cut.fitted
    distance = distance_to_limit(seen, np.arange(n), labels) if measured else None
    train_error = float(np.mean(rows.predictions[rows.train] != numbers))
    if distance is not None and np.isnan(distance.ratio) and train_error == 0:
        distance = None  # rows that are right only with the readout's bias, which the limit does not have
    tell(1.0)
    return BiasReport(
        name=name,
        layer=seen.name,
        depth=seen.depth,
        units=seen.activities.shape[1],
        rows=n,
        compared=len(rows.compare),
        mixtures=others is None,
        model_error=_model_error(rows),
        train_error=train_error,
        explanations=tuple(found),
        distance=distance,
        contexts=_contexts(seen, compared, rows, found[1]),
        notes=tuple(
            dict.fromkeys(
                [*seen.notes, *(_notes(seen, len(classes), train_error, cut) if distance is None else [])]
            )
        ),
    )


def _checked(field: str, rows: Any) -> Any:
    """Refuses ragged rows and NaN before a model sees them, since every framework complains in its own way."""
    if isinstance(rows, Mapping | tuple):
        return rows
    if hasattr(rows, "detach"):
        rows = to_numpy(rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise InputError(field, "rows of different lengths", "rows of equal length") from None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(field, "NaN or infinity", "finite numbers")
    return rows


def _mixtures(inputs: Any, seed: int) -> Any:
    """Means of two training rows each, in the form of the inputs."""
    try:
        x = np.asarray(inputs, dtype=np.float64)
    except (TypeError, ValueError):
        expected = "an array or a frame of numbers, or other rows to compare predictions on (others=...)"
        raise InputError("inputs", type(inputs).__name__, expected) from None
    rng = np.random.default_rng(seed)
    first, second = rng.integers(len(x), size=(2, MIXED))
    mixed = (x[first] + x[second]) / 2
    if hasattr(inputs, "iloc"):
        return type(inputs)(mixed, columns=inputs.columns)
    return np.asarray(mixed, dtype=np.asarray(inputs).dtype)


def _read(model: Any, inputs: Any, others: Any, layer: str | None) -> tuple[RectifiedLayer, RectifiedLayer]:
    """The layer for both sets of rows; read together where they are arrays, since one may show what the other hides."""
    if all(isinstance(one, np.ndarray | list) for one in (inputs, others)):
        first, second = np.asarray(inputs), np.asarray(others)
        if first.shape[1:] != second.shape[1:]:
            sizes = [int(np.prod(one.shape[1:])) for one in (second, first)]
            expected = f"rows of {sizes[1]} inputs, as in training"
            raise InputError("others", f"rows of {sizes[0]} inputs", expected)
        both = read_layer(model, np.concatenate([first, second]), layer=layer)
        return both.some(slice(len(first))), both.some(slice(len(first), None))
    seen = read_layer(model, inputs, layer=layer)
    compared = read_layer(model, others, layer=seen.name, constant=seen.constant)
    if seen.weights is None:  # probabilities of training rows may be too close to 0 and 1 to tell the scores
        seen = replace(seen, weights=compared.weights)
    return seen, compared


def _together(seen: RectifiedLayer, compared: RectifiedLayer) -> RectifiedLayer:
    """Both sets of rows in one, training rows first."""
    if seen.inputs.shape[1] != compared.inputs.shape[1]:
        raise InputError(
            "others", f"rows of {compared.received} inputs", f"rows of {seen.received} inputs, as in training"
        )
    return replace(
        seen,
        inputs=np.concatenate([seen.inputs, compared.inputs]),
        activities=np.concatenate([seen.activities, compared.activities]),
        outputs=np.concatenate([seen.outputs, compared.outputs]),
    )


@dataclass(frozen=True)
class _Cut:
    """How one output tells two classes apart: above `at` it is the second; `fitted` if outputs approximate labels."""

    at: float
    fitted: bool = False


def _cut(seen: RectifiedLayer, compared: RectifiedLayer, numbers: Array, classes: Sequence[Any]) -> _Cut:
    """Probabilities are cut at one half, scores at zero, and outputs fitted to the labels midway between both.

    Fitted outputs are close to the labels as they are, scores only after a sigmoid.
    """
    outputs = np.concatenate([seen.outputs, compared.outputs])
    if outputs.shape[1] == len(classes):
        labels = np.eye(len(classes))[numbers]
        fitted = np.mean((seen.outputs - labels) ** 2) < np.mean(
            (softmax(seen.outputs, axis=1) - labels) ** 2
        )
        probabilities = np.allclose(outputs.sum(axis=1), 1, atol=1e-3) and bool((outputs >= 0).all())
        return _Cut(0.0, fitted=bool(fitted) and not probabilities)
    if ((outputs >= 0) & (outputs <= 1)).all():
        return _Cut(0.5)
    if outputs.shape[1] > 1 or len(classes) > 2:
        return _Cut(0.0)
    own = seen.outputs[:, 0]
    codings = [(0.0, 1.0), (-1.0, 1.0)]
    if not isinstance(classes[0], str):
        codings.append((float(classes[0]), float(classes[1])))
    misfit = {(low, high): np.mean(((own - low) / (high - low) - numbers) ** 2) for low, high in codings}
    low, high = min(misfit, key=lambda coding: float(misfit[coding]))
    as_scores = np.mean((expit(own) - numbers) ** 2)
    # Scores that are still small look like labels -1 and 1, too, and are cut at the same place.
    bound = as_scores if low + high else min(as_scores, FITTED)
    return _Cut((low + high) / 2, fitted=True) if misfit[low, high] < bound else _Cut(0.0)


def _rows(
    together: RectifiedLayer, numbers: Array, classes: Sequence[Any], other_targets: Any, cut: _Cut
) -> Rows:
    """Classes and predictions, training rows first."""
    n = len(numbers)
    m = len(together.inputs) - n
    known = np.zeros(m, dtype=int)
    if other_targets is not None:
        given = to_numpy(other_targets).reshape(-1)
        if len(given) != m:
            raise InputError("other_targets", len(given), f"one label per row of others, {m}")
        matches = given[:, None] == np.asarray(classes)[None, :]
        if not matches.any(axis=1).all():
            odd = given[~matches.any(axis=1)][0]
            raise InputError("other_targets", odd, f"the classes of training, {list(classes)}")
        known = matches.argmax(axis=1)
    return Rows(
        np.arange(n),
        n + np.arange(m),
        np.concatenate([numbers, known]),
        _predicted(together.outputs, len(classes), cut),
        other_targets is not None,
    )


def _predicted(outputs: Array, n_classes: int, cut: _Cut) -> Array:
    """Class numbers from a model's outputs: one column of scores or probabilities, or one per class."""
    columns = outputs.shape[1]
    if columns == 1 and n_classes == 2:
        return np.asarray(outputs[:, 0] > cut.at).astype(int)
    if columns != n_classes:
        raise InputError(
            "model", f"{columns} outputs", f"one output per class, {n_classes}, or one score for two"
        )
    return np.asarray(outputs.argmax(axis=1))


def _random(
    together: RectifiedLayer, rows: Rows, fit: Any, seed: int, tell: Callable[[float], None]
) -> Explanation:
    drawn = []
    for draw in range(DRAWS):
        gates = median_gates(together.inputs, together.activities.shape[1], rows.train, seed=seed + draw)
        drawn.append(fit("random gates", gated_scores(together.inputs, gates, rows.train)))
        tell(0.5 + 0.4 * (draw + 1) / DRAWS)
    middle: Explanation = sorted(drawn, key=lambda one: one.agreement.value)[DRAWS // 2]
    return middle


def _model_error(rows: Rows) -> float:
    if not rows.targets_known:
        return float("nan")
    return float(np.mean(rows.predictions[rows.compare] != rows.classes[rows.compare]))


def _contexts(
    seen: RectifiedLayer, compared: RectifiedLayer, rows: Rows, learned: Explanation
) -> UnseenContexts:
    train, other = (GatedRows.of(one.inputs, one.gates) for one in (seen, compared))
    coverage = context_coverage(train, other)
    return UnseenContexts(
        seen=coverage.share("seen"),
        determined=coverage.share("determined"),
        recombined=coverage.share("recombined"),
        new_part=coverage.share("new part"),
        joint_contexts=coverage.seen,
    )


def _notes(layer: RectifiedLayer, n_classes: int, train_error: float, cut: _Cut) -> list[str]:
    """Why the distance to the limit is unknown."""
    if cut.fitted and n_classes == 2:
        return [
            "outputs approximate the labels, as after training by squared error; such training stops at the labels, so "
            "it has no limit of maximum margin"
        ]
    if n_classes > 2:
        return ["the distance to the limit is measured for two classes only"]
    if layer.weights is None:
        return ["the weights around the layer could not be read, so the distance to the limit is unknown"]
    if train_error == 0:
        return [
            "some training rows are right only because of the readout's bias, which the limit does not have, so the "
            "distance to the limit is unknown"
        ]
    return ["the layer's gates do not separate the training labels, so it has no limit of maximum margin"]
