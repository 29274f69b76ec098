"""What a remedy is worth, measured without the user's training loop.

A simple model instead of the user's: its error on seen cells that were left out of its fit, compared with the model's
error on unseen cells. More training cells: the simple model that predicts most like the user's is fitted with and
without them, and compared on the cells that stay unseen; as many random cells show what the choice is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.refits import Refit, Refits, refit_title
from recombine.auditing.seen_cells import seen_targets
from recombine.auditing.thresholds import MIN_LIKENESS, RANDOM_ADDITIONS
from recombine.auditing.wrong_cells import is_wrong
from recombine.intervals import Estimate, Resampler, ratio_of, sums_by_unit
from recombine.report import percent


@dataclass(frozen=True)
class Gain:
    """By which share of the error a remedy lowers it.

    **Attributes:**

    - `share`: 0.9 if a tenth of the error is left, negative if there is more error than before.
    - `how`: how it was measured, in words.
    - `random`: for cells to add, the median share for as many random ones; NaN otherwise.
    """

    share: Estimate
    how: str
    random: float = np.nan


def gain_of_refit(refit: Refit, cells: Cells, refits: Refits) -> Gain | None:
    """The gain of a simple model on seen cells that were left out, relative to the model's error on unseen cells.

    `None` if hardly any seen cell could be left out, because others lack its levels.
    """
    known = np.isfinite(refit.held_out_errors)
    if known.sum() < 2:
        return None
    left_out, unseen = refit.held_out_errors[known], cells.error[cells.outside]
    index = refits.held_out_cells[known]
    of_refit, of_model = (
        cells.possible(cells.mean_error(errors, some))
        for errors, some in ((left_out, index), (unseen, cells.outside))
    )
    share = _at_most_all(ratio_of(of_refit, of_model).scaled(-1.0, 1.0))
    return Gain(share, "on seen cells left out of the fit, next to your model on unseen cells")


def gain_of_cells(
    added: Int[np.ndarray, " added"], cells: Cells, refits: Refits, *, seed: int = 0
) -> Gain | None:
    """The gain of some unseen cells in training, on the others; `None` if no simple model predicts like the user's.

    **Arguments:**

    - `added`: their numbers among the cells of the table.
    """
    alike = most_alike(cells, refits)
    rest = np.setdiff1d(refits.unseen_cells, added)
    if alike is None or len(rest) < 2 or not len(added):
        return None
    refit, likeness = alike
    weights = cells.weights[rest]
    before = refit.unseen_errors[np.isin(refits.unseen_cells, rest)] * weights
    if not before.sum() > 0:
        return None
    predict = refits.predictors[refit.name]

    def errors_with(more: np.ndarray, others: np.ndarray) -> Float[np.ndarray, " others"]:
        known = seen_targets(cells, np.union1d(cells.inside, more))
        return cells.error_of(others, predict(known, cells.cells[others]))

    after = errors_with(added, rest) * weights
    sums = [sums_by_unit(one, cells.unit[rest]) for one in (after, before)]
    sampler = Resampler((len(sums[0]),), seed=seed)
    draws = 1 - _ratio(*(sampler.means(0, one) for one in sums))
    share = _at_most_all(sampler.estimate(1 - float(after.sum() / before.sum()), draws, [0]))
    rng = np.random.default_rng([seed, 101])
    by_chance = []
    for _ in range(RANDOM_ADDITIONS):
        drawn = rng.choice(cells.outside, min(len(added), len(cells.outside) - 2), replace=False)
        others = np.setdiff1d(refits.unseen_cells, drawn)
        usual = refit.unseen_errors[np.isin(refits.unseen_cells, others)] @ cells.weights[others]
        if len(others) and usual > 0:
            by_chance.append(1 - float(errors_with(drawn, others) @ cells.weights[others] / usual))
    how = (
        "on the cells that stay unseen, with the simple model whose errors are most like yours "
        f"({refit_title(refit.name)}, {percent(likeness)} alike)"
    )
    return Gain(share, how, float(np.median(by_chance)) if by_chance else np.nan)


def most_alike(cells: Cells, refits: Refits) -> tuple[Refit, float] | None:
    """The simple model whose errors on unseen cells are most like the model's, and how much; `None` if none is alike.

    Likeness is the share of equal labels among wrong ones, or 1 - sum |P - H|^2 / sum |P - T|^2 for predictions P of
    the model, H of the simple model, and targets T. A simple model that is right where the model is wrong would learn
    from more cells what the model may not learn.
    """
    if not refits.models:
        return None
    predictions, targets = (
        one[refits.unseen_cells].astype(np.float64) for one in (cells.predictions, cells.targets)
    )
    wrong = is_wrong(cells)[refits.unseen_cells]

    def likeness(refit: Refit) -> float:
        if cells.kind == "classification":
            equal = (refit.predictions * predictions).sum(axis=1)
            return float(min(equal.mean(), equal[wrong].mean())) if wrong.any() else -np.inf
        left, error = (float(((one - predictions) ** 2).sum()) for one in (refit.predictions, targets))
        return 1 - left / error if error > 1e-12 * left else -np.inf

    # A model of one factor cannot learn what it would need other factors for, unlike the user's.
    able = [one for one in refits.models if one.name != "constant" and not one.name.startswith("level:")]
    scored = [(one, likeness(one)) for one in able]
    best = max(scored, key=lambda pair: pair[1], default=None)
    return best if best is not None and best[1] >= MIN_LIKENESS else None


def informative_cells(cells: Cells, refits: Refits, count: int) -> Int[np.ndarray, " count"]:
    """Unseen cells that share as few levels with seen cells, and with each other, as possible: the most can be learned
    from them, whatever their targets are.

    The next cell is the one whose levels have the fewest seen partners so far.
    """
    partners = [
        np.bincount(cells.cells[cells.seen][:, axis], minlength=size).astype(np.float64)
        for axis, size in enumerate(cells.sizes)
    ]
    pool, chosen = list(refits.unseen_cells), []
    for _ in range(min(count, len(pool))):
        need = [
            sum(1 / max(have[level], 0.5) for have, level in zip(partners, cells.cells[one], strict=True))
            for one in pool
        ]
        best = pool.pop(int(np.argmax(need)))
        chosen.append(best)
        for have, level in zip(partners, cells.cells[best], strict=True):
            have[level] += 1
    return np.array(chosen, dtype=int)


def cell_numbers(cells: Cells, levels: Sequence[Sequence[int]]) -> Int[np.ndarray, " cells"]:
    """The numbers of some cells among the unseen cells of the table; those without a target are left out."""
    wanted = np.ravel_multi_index(
        tuple(np.asarray(levels, dtype=int).reshape(-1, len(cells.sizes)).T), cells.sizes
    )
    outside = np.ravel_multi_index(tuple(cells.cells[cells.outside].T), cells.sizes)
    return cells.outside[np.isin(outside, wanted)]


def _at_most_all(share: Estimate) -> Estimate:
    """Nothing removes more than all of an error."""
    return replace(share, high=min(share.high, 1.0))


def _ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    return np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
