"""What is true of a trained model: whether it composes and why not, by intervention and known construction.

Nothing here uses the audit. The script knows the noise-free targets of all cells, can ask the model about any cell, and
can train it again on other targets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.zoo import cutoffs
from benchmarks.zoo.memory_test import memory
from benchmarks.zoo.patterns import additive, is_constant, shortcut, superposition
from benchmarks.zoo.sample import Fitted, Sample

CAUSES = ("memorisation_leak", "shortcut", "superposition", "additive_only")
NOT_LEARNED, NO_PATTERN = "not learned", "none of these"
GROWS = "error grows"
"""Neither a success nor a failure: the unseen error is small next to a constant's, but many times the seen one."""


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
    if is_constant(values[~design.seen], clean[~design.seen]):
        # Nothing that was stored arrives at unseen cells: the extreme case of a leak, unless nothing was stored.
        return {"shortcut": (False, 0.0), "additive_only": (False, 0.0), "memorisation_leak": (True, 1.0)}
    tests = {"shortcut": shortcut(design, values, clean), "additive_only": additive(design, values, clean)}
    if sample.images is not None:
        tests["superposition"] = superposition(design, values, clean)
    says = [one for one, _ in tests.values()]
    against = wanted in {NO_PATTERN, NOT_LEARNED} and any(says)
    if wanted and (None in says or against or (wanted in tests and not tests[wanted][0])):
        return tests
    tests["memorisation_leak"] = memory(sample, fitted, values, clean, failing)
    return tests


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
