"""Sets of levels of one factor that separate right from wrong cells, with a p-value that pays for the choice.

A model may be right on half of the levels of a factor, none of which is remarkable by itself. Levels are sorted by
their share of wrong cells and cut in two where the standardised difference is largest, which is the best of all sets
(Breiman et al. 1984, theorem 4.5). The same search in random arrangements of the wrong cells gives the p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.thresholds import (
    ARRANGEMENTS,
    MAX_NAMED_LEVELS,
    MAX_P_VALUE_OF_CONDITION,
    MIN_CONDITION_CELLS,
)

MIN_LEVELS = 4
"""With fewer levels a set is one level, or all but one."""


@dataclass(frozen=True, eq=False)
class LevelSet:
    """The set of levels that separates best, and how well sets do in random arrangements of the wrong cells.

    **Attributes:**

    - `levels`: their numbers; `statistic`: the standardised difference of the shares of wrong cells.
    - `arranged`: the same for the best set of each random arrangement, sorted.
    - `p_value`: the share of arrangements in which some set separates as well, the observed one included; 1 if a single
        level does.
    - `known`: how many levels have unseen cells.
    """

    levels: Int[np.ndarray, " levels"]
    statistic: float
    arranged: Float[np.ndarray, " arrangements"]
    p_value: float
    known: int

    def p_value_by_sets(self, fisher: float) -> float:
        """The p-value, from Fisher's exact test of the chosen set where no number of arrangements could show it.

        Times the number of sets, that p-value is a bound (Bonferroni). It is used only below the resolution of the
        arrangements, so that it hardly adds to the false alarms of the permutation test.
        """
        bound = fisher * 2.0 ** (self.known - 1)
        return bound if bound < 1 / (1 + len(self.arranged)) and self.p_value < 1 else self.p_value

    def confidence(self, level: float) -> float:
        """The level of an interval for one difference that covers those of all sets together with this level.

        The largest statistic of all sets takes the place of a normal one ("max T").
        """
        from scipy.special import erf

        largest = float(np.quantile(self.arranged, level, method="higher"))
        return min(max(level, float(erf(largest / np.sqrt(2)))), 1 - 1e-12)


def best_level_set(
    level: Int[np.ndarray, " cells"], wrong: Bool[np.ndarray, " cells"], *, seed: int = 0
) -> LevelSet | None:
    """The set of levels that separates right from wrong cells best; `None` if there are too few levels.

    A set is more than a level only if the other levels still differ (p at most 5%) without the most remarkable one.

    **Arguments:**

    - `level`: of every unseen cell, as numbers.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.level_sets import best_level_set
    >>> level = np.repeat(np.arange(8), 5)
    >>> best = best_level_set(level, level % 2 == 0)
    >>> best.levels.tolist(), best.p_value
    ([0, 2, 4, 6], 0.0001)

    ```
    """
    known, at = np.unique(level, return_inverse=True)
    cells = np.bincount(at, minlength=len(known))
    errors = np.bincount(at[wrong], minlength=len(known))
    if len(known) < MIN_LEVELS:
        return None
    statistic, chosen = _best_cut(cells, errors)
    rng = np.random.default_rng([seed, len(level)])
    arranged, p_value = np.zeros(1), 1.0
    if 2 <= chosen.sum() <= len(known) - 2:
        arranged = _arranged(cells, int(errors.sum()), rng)
        p_value = _share_as_large(arranged, statistic)
    if p_value <= MAX_P_VALUE_OF_CONDITION:
        rest = np.arange(len(known)) != _standardised(cells, errors, cells, errors).argmax()
        without, _ = _best_cut(cells[rest], errors[rest])
        others = _share_as_large(_arranged(cells[rest], int(errors[rest].sum()), rng), without)
        p_value = p_value if others <= MAX_P_VALUE_OF_CONDITION else 1.0
    return LevelSet(known[chosen], statistic, arranged, p_value, len(known))


def _share_as_large(arranged: Float[np.ndarray, " arrangements"], statistic: float) -> float:
    """The p-value of a permutation test, the observed arrangement included."""
    below = int(np.searchsorted(arranged, statistic - 1e-9))
    return (1 + len(arranged) - below) / (1 + len(arranged))


def _best_cut(
    cells: Int[np.ndarray, " levels"], errors: Int[np.ndarray, " levels"]
) -> tuple[float, Bool[np.ndarray, " levels"]]:
    """The largest statistic of a set, and the set: the side with fewer levels; of equal ones, the one that is wrong."""
    order, statistics = _cuts(cells, errors[None])
    cut = int(statistics[0].argmax()) + 1
    chosen = np.zeros(len(cells), dtype=bool)
    chosen[order[0, cut:] if len(cells) - cut <= cut else order[0, :cut]] = True
    return float(statistics[0, cut - 1]), chosen


def _arranged(
    cells: Int[np.ndarray, " levels"], wrong: int, rng: np.random.Generator
) -> Float[np.ndarray, " arrangements"]:
    """The best statistic of every random arrangement of the wrong cells: drawn without replacement, level by level."""
    drawn = rng.multivariate_hypergeometric(cells, wrong, size=ARRANGEMENTS, method="marginals")
    return np.sort(_cuts(cells, drawn)[1].max(axis=1))


def _cuts(
    cells: Int[np.ndarray, " levels"], errors: Int[np.ndarray, "draws levels"]
) -> tuple[Int[np.ndarray, "draws levels"], Float[np.ndarray, "draws cuts"]]:
    """Levels sorted by their share of wrong cells, and the statistic of every cut between them."""
    order = np.argsort(errors / cells, axis=1, kind="stable")
    below = np.cumsum(cells[order], axis=1)[:, :-1]
    wrong_below = np.cumsum(np.take_along_axis(errors, order, axis=1), axis=1)[:, :-1]
    return order, _standardised(cells, errors, below, wrong_below)


def _standardised(
    cells: Int[np.ndarray, " levels"], errors: np.ndarray, part: np.ndarray, wrong_part: np.ndarray
) -> np.ndarray:
    """How far the number of wrong cells in a part is from what is expected, in standard deviations (hypergeometric)."""
    total, wrong = int(cells.sum()), errors.sum(axis=-1, keepdims=True)
    variance = part * (total - part) * wrong * (total - wrong) / (total**2 * max(1, total - 1))
    enough = np.minimum(part, total - part) >= MIN_CONDITION_CELLS
    deviation = np.abs(wrong_part - part * wrong / total)
    usable = enough & (variance > 0)
    return np.divide(deviation, np.sqrt(variance), out=np.zeros(deviation.shape), where=usable)


def level_set_text(name: str, levels: Sequence[Any], chosen: Int[np.ndarray, " chosen"]) -> str:
    """A set of levels in words; a range if the levels are neighbouring numbers.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.level_sets import level_set_text
    >>> level_set_text("colour", ["red", "blue", "green", "grey"], np.array([0, 2]))
    'colour is red or green'
    >>> level_set_text("x", range(10), np.arange(6, 10)), level_set_text("x", range(10), np.arange(2, 5))
    ('x is at least 6', 'x is from 2 to 4')
    >>> level_set_text("x", range(20), np.arange(0, 20, 2))
    'x is one of 0, 2, 4, 6, 8 and 5 others'

    ```
    """
    members = [levels[number] for number in chosen]
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in levels)
    if numbers and len(members) > 2 and (np.diff(chosen) == 1).all():
        if chosen[0] == 0:
            return f"{name} is at most {members[-1]}"
        if chosen[-1] == len(levels) - 1:
            return f"{name} is at least {members[0]}"
        return f"{name} is from {members[0]} to {members[-1]}"
    if len(members) == 2:
        return f"{name} is {members[0]} or {members[1]}"
    shown = ", ".join(map(str, members[:MAX_NAMED_LEVELS]))
    more = len(members) - MAX_NAMED_LEVELS
    if more == 1:
        return f"{name} is one of {shown}, {members[-1]}"
    return f"{name} is one of {shown}" + (f" and {more} others" if more > 0 else "")
