"""What is true of a trained model: whether it composes and why not, by intervention and known construction.

Nothing here uses the audit. The script knows the noise-free targets of all cells, can ask the model about any cell, and
can train it again on other targets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.zoo import cutoffs
from benchmarks.zoo.designs import Design, one_hot
from benchmarks.zoo.sample import Fitted, Sample

CAUSES = ("memorisation_leak", "shortcut", "superposition", "additive_only")
NOT_LEARNED, NO_PATTERN = "not learned", "none of these"
GROWS = "error grows"
"""Neither a success nor a failure: the unseen error is small next to a constant's, but many times the seen one."""
INTERVENTIONS = 4
"""Trainings on changed targets."""


@dataclass(frozen=True)
class Truth:
    """What is true of a model.

    **Attributes:**

    - `composes`: `None` if that is unclear, or if the model has not learned the seen cells.
    - `cause`: of a failure: one of `CAUSES`, `NOT_LEARNED`, `NO_PATTERN` or `GROWS`; empty for a composer.
    - `also`: other causes that are as true. (A linear decoder of pictures overlays seen pictures, and adds effects.)
    - `clear`: whether all of this is beyond doubt; if not, the model is drawn again.
    - `ratio`: unseen over seen error with the noise that rows have; `numbers`: the result of every test.
    """

    composes: bool | None
    cause: str
    clear: bool
    ratio: float
    numbers: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


def predictions_of_cells(sample: Sample, fitted: Fitted, repeats: int = 5) -> np.ndarray:
    """The prediction for every cell; if inputs vary, the mean or the commonest label of several."""
    cells = sample.design.cells
    if not sample.varies:
        return fitted.predict(cells)
    several = np.stack([fitted.predict(cells) for _ in range(repeats)])
    if sample.kind == "quantities":
        return several.mean(axis=0)
    counts = (several[:, :, None] == np.arange(several.max() + 1)).sum(axis=0)
    return counts.argmax(axis=1)


def cell_errors(sample: Sample, predictions: np.ndarray) -> np.ndarray:
    """Errors `(cells, outputs)`, in units of a constant's; pictures and labels have one."""
    clean = sample.clean
    if sample.kind == "labels":
        seen = clean[sample.design.seen]
        constant = (clean != np.bincount(seen).argmax()).mean()
        return (predictions != clean)[:, None] / max(constant, 1e-12)
    squares = (predictions - clean) ** 2
    if sample.images is not None:
        return squares.sum(axis=1, keepdims=True) / clean.var(axis=0).sum()
    return squares / clean.var(axis=0)


def find_truth(sample: Sample, fitted: Fitted, wanted: str = "") -> Truth:
    """Works out whether a trained model composes, and why not if it does not.

    **Arguments:**

    - `wanted`: "composes" or a cause; if a quick test speaks against it, the model is not trained again for the slow
        one, and the truth is left unclear.
    """
    predictions = predictions_of_cells(sample, fitted)
    design, errors = sample.design, cell_errors(sample, predictions)
    seen, unseen = errors[design.seen].mean(axis=0), errors[~design.seen].mean(axis=0)
    transfer = (1 - unseen) / np.maximum(1 - seen, 1e-9)
    numbers: dict[str, Any] = {"seen": _rounded(seen), "unseen": _rounded(unseen)}
    ratio = _noisy_ratio(sample, predictions)
    alike = unseen <= cutoffs.SIMILAR_RATIO * seen + cutoffs.SAME_SLACK
    underfits = (seen >= cutoffs.NOT_LEARNED_AT_ALL) | ((seen >= cutoffs.NOT_LEARNED) & alike)
    composes = (
        (transfer >= cutoffs.COMPOSES)
        & (unseen <= cutoffs.SAME_RATIO * seen + cutoffs.SAME_SLACK)
        & (seen <= cutoffs.LEARNED)
    )
    fails = (transfer <= cutoffs.FAILS) & ~underfits
    if composes.all():
        return Truth(True, "", True, ratio, numbers)
    grows = (unseen >= cutoffs.GROWS_RATIO * seen + cutoffs.SAME_SLACK) & (transfer > cutoffs.FAILS)
    if grows.all() and ratio >= cutoffs.GROWS_RATIO:
        return Truth(None, GROWS, True, ratio, numbers)
    if not (composes | fails | underfits).all():
        return Truth(None, "", False, ratio, numbers)
    if wanted == "composes" or (wanted == NOT_LEARNED and not underfits.any()):
        return Truth(None, "", False, ratio, numbers)
    failing = ~composes
    tests = run_tests(sample, fitted, predictions, failing, wanted)
    numbers |= {name: _rounded(value) for name, (_, value) in tests.items()}
    if "memorisation_leak" not in tests:
        return Truth(False, "", False, ratio, numbers)
    cause, clear = _cause({name: says for name, (says, _) in tests.items()}, bool(underfits.any()))
    both = cause == "superposition" and tests["additive_only"][0] is True
    also = ("additive_only",) if both else ()
    return Truth(None if cause == NOT_LEARNED else False, cause, clear, ratio, numbers, also)


def _cause(says: dict[str, bool | None], underfits: bool) -> tuple[str, bool]:
    """The cause, and whether it is clear. A simpler one comes first: a function of one factor is also a sum."""
    order = ["shortcut", "superposition"]
    for name in order:
        if says.get(name):
            return name, True
        if name in says and says[name] is None:
            return "", False
    if says.get("additive_only") and not says.get("memorisation_leak"):
        return "additive_only", says.get("memorisation_leak") is False or underfits
    if underfits:
        return NOT_LEARNED, says.get("additive_only") is False
    if says.get("memorisation_leak"):
        return "memorisation_leak", says.get("additive_only") is not True
    return NO_PATTERN, all(one is False for one in says.values())


def run_tests(
    sample: Sample, fitted: Fitted, predictions: np.ndarray, failing: np.ndarray, wanted: str = ""
) -> dict[str, tuple[bool | None, float]]:
    """What each test says about the unseen predictions (of the outputs that fail), and the number it is based on."""
    design = sample.design
    if sample.kind == "quantities" and sample.images is None:
        values, clean = predictions[:, failing], sample.clean[:, failing]
    else:
        values, clean = predictions, sample.clean
    if _constant(values[~design.seen], clean[~design.seen]):
        # Nothing that was stored arrives at unseen cells: the extreme case of a leak, unless nothing was stored.
        return {"shortcut": (False, 0.0), "additive_only": (False, 0.0), "memorisation_leak": (True, 1.0)}
    tests = {"shortcut": _shortcut(design, values, clean), "additive_only": _additive(design, values, clean)}
    if sample.images is not None:
        tests["superposition"] = _superposition(design, values, clean)
    says = [one for one, _ in tests.values()]
    against = wanted in {NO_PATTERN, NOT_LEARNED} and any(says)
    if wanted and (None in says or against or (wanted in tests and not tests[wanted][0])):
        return tests
    tests["memorisation_leak"] = _memory(sample, fitted, values, clean, failing)
    return tests


def _between(value: float, yes: float, no: float) -> bool | None:
    return True if value >= yes else False if value <= no else None


def _constant(values: np.ndarray, clean: np.ndarray) -> bool:
    if values.ndim == 1:
        return bool((values != np.bincount(values).argmax()).mean() < cutoffs.NEARLY_CONSTANT)
    return bool(values.var(axis=0).sum() < cutoffs.NEARLY_CONSTANT * clean.var(axis=0).sum())


# ---- shortcut --------------------------------------------------------------------------------------------------------


def _shortcut(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether some of the factors determine the unseen predictions, but not the targets."""
    best: float = 0.0
    unseen = np.flatnonzero(~design.seen)
    for count in range(1, len(design.sizes)):
        for subset in combinations(range(len(design.sizes)), count):
            code = np.ravel_multi_index(
                tuple(design.cells[:, i] for i in subset), tuple(design.sizes[i] for i in subset)
            )
            of_targets = determined(code, clean)
            if of_targets > cutoffs.TASK_OF_MORE_FACTORS:
                continue
            best = max(best, determined(code[unseen], values[unseen]))
    return _between(best, cutoffs.ONE_FACTOR, cutoffs.NOT_ONE_FACTOR), best


def determined(code: np.ndarray, values: np.ndarray) -> float:
    """The share of values that follows from a code, each predicted from the other cells with the same code."""
    _, group = np.unique(code, return_inverse=True)
    many = np.bincount(group)[group] > 1
    if many.sum() < max(6, 0.5 * len(code)):
        return 0.0
    if values.ndim == 1:
        classes = int(values.max()) + 1
        counts = np.zeros((group.max() + 1, classes))
        np.add.at(counts, (group, values), 1)
        others = counts[group] - np.eye(classes)[values]
        return float((others.argmax(axis=1) == values)[many].mean())
    sums = np.zeros((group.max() + 1, values.shape[1]))
    np.add.at(sums, group, values)
    others = (sums[group] - values) / np.maximum(np.bincount(group)[group] - 1, 1)[:, None]
    spread = ((values - values.mean(axis=0)) ** 2)[many].sum()
    return float(1 - ((values - others) ** 2)[many].sum() / max(spread, 1e-300))


# ---- sums ------------------------------------------------------------------------------------------------------------


def _additive(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether unseen predictions are the sum of effects that the seen predictions have, and the task is not."""
    seen, unseen = design.seen, ~design.seen
    of_task = _matches(extrapolated_sum(design, clean[seen]), clean[unseen])
    # Networks that memorise seen cells extrapolate by the sum of effects of what they learned.
    share = _matches(extrapolated_sum(design, values[seen]), values[unseen])
    if of_task > cutoffs.TASK_NOT_ADDITIVE:
        return False, share
    if values.ndim == 1:
        return _between(share, cutoffs.ADDS_LABELS, cutoffs.DOES_NOT_ADD_LABELS), share
    return _between(share, cutoffs.ADDS, cutoffs.DOES_NOT_ADD), share


def extrapolated_sum(design: Design, values: np.ndarray) -> np.ndarray:
    """For unseen cells, the sum of effects of single levels (labels: of their scores) that fits seen values."""
    x = one_hot(design.cells, design.sizes)
    if values.ndim == 1:
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(values)) < 2:
            return np.full(int((~design.seen).sum()), values[0])
        return LogisticRegression(C=30.0, max_iter=400).fit(x[design.seen], values).predict(x[~design.seen])
    full = np.c_[np.ones(len(x)), x]
    effects = np.linalg.lstsq(full[design.seen], values, rcond=1e-9)[0]
    return full[~design.seen] @ effects


def _matches(rule: np.ndarray, values: np.ndarray) -> float:
    """The share of labels, or of variance, that a rule explains."""
    if values.ndim == 1:
        return float((rule == values).mean())
    spread = ((values - values.mean(axis=0)) ** 2).sum()
    return float(1 - ((values - rule) ** 2).sum() / max(spread, 1e-300))


def second_differences(design: Design, values: np.ndarray, seed: int = 0, count: int = 4000) -> float:
    """The share of variance of a function of cells that mixed second differences show to be interaction.

    For independent interactions, the expected square of such a difference is four times their variance.
    """
    rng = np.random.default_rng(seed)
    table = values.reshape(*design.sizes, -1)
    one, other = (
        np.stack([rng.integers(size, size=count) for size in design.sizes], axis=1) for _ in range(2)
    )
    axes = np.stack([rng.permutation(len(design.sizes))[:2] for _ in range(count)])
    first, second = (np.eye(len(design.sizes), dtype=bool)[axes[:, i]] for i in (0, 1))
    differ = ((one != other) & (first | second)).sum(axis=1) == 2

    def at(which: np.ndarray) -> np.ndarray:
        return table[tuple(np.where(which, other, one).T)]

    none = np.zeros_like(first)
    mixed = (at(none) - at(first) - at(second) + at(first | second))[differ]
    return float((mixed**2).sum(axis=1).mean() / 4 / max(values.var(axis=0).sum(), 1e-300))


# ---- memory ----------------------------------------------------------------------------------------------------------


def _memory(
    sample: Sample, fitted: Fitted, values: np.ndarray, clean: np.ndarray, failing: np.ndarray
) -> tuple[bool | None, float]:
    """Whether unseen predictions are made of stored targets, or are the targets shrunken."""
    design = sample.design
    if fitted.stored is not None:
        weights = fitted.stored(design.cells[~design.seen])
        share, stored_cells = _averages(sample, weights, values[~design.seen], failing)
        if share >= cutoffs.AVERAGES_STORED and stored_cells <= cutoffs.STORED_CELLS:
            return True, share
    if values.ndim == 2:
        unseen = ~design.seen
        slope, line = _line(values[unseen], clean[unseen])
        if 0 <= slope <= cutoffs.SHRINKS and line >= cutoffs.ON_A_LINE:
            return True, 1 - slope
    near, added = copying(sample, failing)
    yes, no = cutoffs.COPIES, cutoffs.DOES_NOT_COPY
    if values.ndim == 1:
        yes, no = cutoffs.COPIES_LABELS, cutoffs.DOES_NOT_COPY_LABELS
    if near <= no or (added > near and added >= yes):
        return False, near
    clearly = near >= yes and (1 - near) <= cutoffs.COPIES_MORE * (1 - added)
    return (True if clearly else None), near


def _averages(
    sample: Sample, weights: np.ndarray, values: np.ndarray, failing: np.ndarray
) -> tuple[float, float]:
    """How well stored rows reproduce the predictions, and the share of seen cells that have a say."""
    design = sample.design
    target = sample.target[design.train]
    if values.ndim == 1:
        votes = weights @ np.eye(int(sample.clean.max()) + 1)[target]
        share = float((votes.argmax(axis=1) == values).mean())
    else:
        share = _matches(weights @ target[:, failing], values)
    by_cell = np.zeros((len(weights), len(design.cells)))
    np.add.at(by_cell.T, design.cell[design.train], weights.T)
    by_cell /= np.maximum(by_cell.sum(axis=1, keepdims=True), 1e-12)
    effective = 1 / (by_cell**2).sum(axis=1)
    return share, float(np.median(effective) / design.seen.sum())


def _line(values: np.ndarray, clean: np.ndarray) -> tuple[float, float]:
    """The slope of predictions on targets, and the share of the predictions that the line explains."""
    one, other = values - values.mean(axis=0), clean - clean.mean(axis=0)
    slope = float((one * other).sum() / max((other**2).sum(), 1e-300))
    return slope, float(1 - ((one - slope * other) ** 2).sum() / max((one**2).sum(), 1e-300))


def copying(sample: Sample, failing: np.ndarray) -> tuple[float, float]:
    """Trains on changed targets: how much of the change of unseen predictions the nearest seen cells explain, and how
    much the sum of effects of the changes does.

    Quantities get independent normal numbers added to every seen cell. Labels are drawn anew for every seen cell.
    """
    rng = np.random.default_rng(1)
    design, labels = sample.design, sample.kind == "labels"
    unseen, near = ~design.seen, _neighbours(design)
    changes: list[np.ndarray] = []
    added: list[np.ndarray] = []
    copied: list[list[np.ndarray]] = [[] for _ in near]
    before = None
    for repeat in range(INTERVENTIONS):
        if labels:
            classes = int(sample.clean.max()) + 1
            planted = rng.integers(classes, size=len(design.cells))
            fitted = sample.fit(design, planted[design.cell], repeat)
            changes.append(np.eye(classes)[fitted.predict(design.cells[unseen])])
            stored = np.eye(classes)[planted[design.seen]]
            added.append(np.eye(classes)[extrapolated_sum(design, planted[design.seen])])
        else:
            if before is None:
                before = sample.fit(design, sample.target, 0).predict(design.cells[unseen])
            stored = rng.normal(size=(len(design.cells), sample.clean.shape[1])) * sample.clean.std(axis=0)
            fitted = sample.fit(design, sample.target + stored[design.cell], 0)
            changes.append(
                (fitted.predict(design.cells[unseen]) - before)[
                    :, failing if sample.images is None else slice(None)
                ]
            )
            stored = stored[design.seen][:, failing if sample.images is None else slice(None)]
            added.append(extrapolated_sum(design, stored))
        for number, weights in enumerate(near):
            copied[number].append(weights @ stored)
    change = np.concatenate(changes)
    return (
        max(_explained(np.concatenate(one), change) for one in copied),
        _explained(np.concatenate(added), change),
    )


def _neighbours(design: Design) -> list[np.ndarray]:
    """Weights of seen cells for every unseen one: its nearest ones, by three distances, and the two nearest shells."""
    one, other = design.cells[~design.seen][:, None], design.cells[design.seen][None]
    weights = []
    for distance in (
        (one != other).sum(axis=2),
        np.abs(one - other).sum(axis=2),
        ((one - other) ** 2).sum(axis=2),
    ):
        nearest = distance == distance.min(axis=1, keepdims=True)
        weights.append(nearest / nearest.sum(axis=1, keepdims=True))
    close = (np.abs(one - other).max(axis=2) <= 1).astype(float)
    weights.append(close / np.maximum(close.sum(axis=1, keepdims=True), 1))
    return weights


def _explained(rule: np.ndarray, change: np.ndarray) -> float:
    """The squared correlation of a rule with what happened."""
    one, other = rule - rule.mean(axis=0), change - change.mean(axis=0)
    top = float((one * other).sum())
    if top <= 0:
        return 0.0
    return top**2 / max(float((one**2).sum() * (other**2).sum()), 1e-300)


# ---- pictures --------------------------------------------------------------------------------------------------------


def _superposition(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether unseen pictures are overlays (with weights from 0 on) of seen pictures that share a level, while the
    right pictures are not."""
    from scipy.optimize import nnls

    unseen = np.flatnonzero(~design.seen)
    left, spread, with_target = np.zeros(2), 0.0, []
    for cell in unseen:
        shared = (design.cells[design.seen] == design.cells[cell]).any(axis=1)
        own = values[design.seen][shared].T
        for number, picture in enumerate((values[cell], clean[cell])):
            left[number] += nnls(own, np.maximum(picture, 0.0))[1] ** 2
        spread += float((values[cell] ** 2).sum())
        with_target.append(
            np.corrcoef(values[cell], clean[cell])[0, 1] ** 2 if values[cell].std() > 0 else 0.0
        )
    share, of_target = 1 - left / np.array([max(spread, 1e-300), (clean[unseen] ** 2).sum()])
    right = float(np.mean(with_target))
    if share >= cutoffs.SUPERPOSES and (
        right > cutoffs.OWN_PICTURE or of_target > share - cutoffs.MORE_THAN_TARGET
    ):
        return None, float(share)
    return _between(float(share), cutoffs.SUPERPOSES, cutoffs.DOES_NOT_SUPERPOSE), float(share)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _noisy_ratio(sample: Sample, predictions: np.ndarray) -> float:
    """Unseen over seen error of the rows, with their noise, of the worst output; every cell counts once."""
    design, target = sample.design, sample.target
    if sample.kind == "labels":
        row_errors = (predictions[design.cell] != target)[:, None].astype(float)
    else:
        row_errors = (predictions[design.cell] - target) ** 2
    sums = np.zeros((len(design.cells), row_errors.shape[1]))
    np.add.at(sums, design.cell, row_errors)
    means = sums / np.bincount(design.cell, minlength=len(sums))[:, None]
    seen, unseen = means[design.seen].mean(axis=0), means[~design.seen].mean(axis=0)
    if sample.images is not None:
        seen, unseen = seen.sum(keepdims=True), unseen.sum(keepdims=True)
    return float(np.max(unseen / np.maximum(seen, 1e-12)))


def _rounded(value: Any) -> Any:
    return np.round(value, 4).tolist() if isinstance(value, np.ndarray) else round(float(value), 4)
