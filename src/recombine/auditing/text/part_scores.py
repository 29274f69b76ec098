"""Compositional answers, factor by factor: which part of "a red cube" is right, and which factor goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.probabilities.counted_rows import CountedRows
from recombine.auditing.text.phrases import Phrases, words_and_breaks
from recombine.auditing.thresholds import PART_RIGHT
from recombine.data.argument_types import shown
from recombine.data.levels import MISSING
from recombine.data.text import TextScoring
from recombine.errors import InputError
from recombine.intervals import Estimate
from recombine.report import bracket, percent, plain_interval, plain_level, plain_number
from recombine.spaces.observations import Observations

NONE_NAMED, SEVERAL_NAMED = -1, -2
"""Instead of a level: the answer names no level of the factor, or more than one."""


@dataclass(frozen=True, eq=False)
class PartAnswers:
    """What every answer says about some factors.

    **Attributes:**

    - `factors`: their names; `axes`: their places among all factors.
    - `named`: `(rows, factors)` the level that the answer names, or one of the two numbers above.
    - `levels`: the level that it should name; -3 where the level is missing, so that any answer will do.
    """

    factors: tuple[str, ...]
    axes: tuple[int, ...]
    named: Int[np.ndarray, "rows parts"]
    levels: Int[np.ndarray, "rows parts"]

    @property
    def right(self) -> Float[np.ndarray, "rows parts"]:
        """1 where the answer names the right level and no other, 0 elsewhere; NaN where there is no right level."""
        return np.where(self.levels >= 0, (self.named == self.levels).astype(np.float64), np.nan)


@dataclass(frozen=True)
class PartScore:
    """How often the answers get one factor right.

    **Attributes:**

    - `seen`, `unseen`: share of answers that name its level and no other; every cell counts once.
    - `other`, `none`, `several`: shares of the unseen answers that name another level, none, or several.
    - `instead`: the other level that unseen answers name most often; `None` if they name none.
    """

    factor: str
    seen: Estimate
    unseen: Estimate
    other: float
    none: float
    several: float
    instead: Any

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "factor": self.factor,
            "seen": _plain(self.seen),
            "unseen": _plain(self.unseen),
            "unseen_other_level": plain_number(self.other),
            "unseen_no_level": plain_number(self.none),
            "unseen_several_levels": plain_number(self.several),
            "most_often_instead": None if self.instead is None else plain_level(self.instead),
        }


@dataclass(frozen=True)
class PartScores:
    """How often answers get each factor right, and which one goes wrong.

    **Attributes:**

    - `worst`: the factor that goes wrong more often than all others, beyond chance; empty if there is none.
    - `sentence`: the result in words.
    """

    scores: tuple[PartScore, ...]
    worst: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "factors": [one.to_dict() for one in self.scores],
            "worst": self.worst or None,
            "sentence": self.sentence,
        }


def read_parts(
    parts: Any, table: Observations, answers: Sequence[str | None], scoring: TextScoring
) -> PartAnswers:
    """Which level of each factor every answer names.

    **Arguments:**

    - `parts`: names of factors whose levels should occur in answers; or a mapping from their names to True (levels are
        called what they are), to a word for each level in order, or to a mapping from levels to words.

    ```python
    >>> from recombine.auditing.text.part_scores import read_parts
    >>> from recombine.data import TextScoring
    >>> from recombine.spaces.observations import observe
    >>> table = observe(factors={"colour": ["red", "blue"] * 2, "size": [1, 1, 2, 2]}, seen=[1, 1, 1, 0])
    >>> said = ["a small red one", "it is blue", "green", "red and blue"]
    >>> read_parts(["colour"], table, said, TextScoring()).named.ravel().tolist()  # levels are blue and red
    [1, 0, -1, -2]

    ```
    """
    words = _words(parts, table)
    _check_shared_words(words, scoring)
    named = np.empty((len(answers), len(words)), dtype=np.int64)
    split = {answer: words_and_breaks(scoring, answer) if answer else () for answer in dict.fromkeys(answers)}
    for column, (factor, texts) in enumerate(words.items()):
        phrases = Phrases(scoring, {str(level): some for level, some in texts.items()})
        known: dict[str | None, int] = {}
        for answer, said in split.items():
            found = phrases.named(said)
            known[answer] = int(next(iter(found))) if len(found) == 1 else NONE_NAMED
            if len(found) > 1:
                known[answer] = SEVERAL_NAMED
        if all(level < 0 for level in known.values()):
            some = ", ".join(repr(text) for listed in list(texts.values())[:3] for text in listed[:1])
            expected = f"answers of which some name one level of {factor!r}, such as {some}"
            raise InputError("parts", f"{factor!r}, which no answer names", expected)
        named[:, column] = [known[answer] for answer in answers]
    axes = tuple(table.space.axis(factor) for factor in words)
    levels = table.cells[:, axes].astype(np.int64)
    for column, axis in enumerate(axes):
        if table.space.factors[axis].levels[-1] == MISSING:
            levels[levels[:, column] == table.space.factors[axis].size - 1, column] = -3
    return PartAnswers(tuple(words), axes, named, levels)


def score_parts(table: Observations, cells: Cells, answers: PartAnswers) -> PartScores:
    """How often each part is right on seen and unseen cells, with intervals over cells."""
    rows = CountedRows.of(table, cells, np.all(answers.levels >= 0, axis=1))
    by_cell = rows.means(np.nan_to_num(answers.right))
    outside = rows.counted & np.isin(rows.cell_index, rows.unseen)
    scores = []
    for column, axis in enumerate(answers.axes):
        named, level = answers.named[outside, column], answers.levels[outside, column]
        others = named[(named >= 0) & (named != level)]
        factor = table.space.factors[axis]
        most = Counter(others.tolist()).most_common(1)
        seen, unseen = (rows.estimate(group, by_cell[:, column]) for group in (0, 1))
        none, several = (
            float((named == one).mean()) if len(named) else np.nan for one in (NONE_NAMED, SEVERAL_NAMED)
        )
        scores.append(
            PartScore(
                factor.name,
                seen,
                unseen,
                len(others) / len(named) if len(named) else np.nan,
                none,
                several,
                factor.levels[most[0][0]] if most else None,
            )
        )
    worst = ""
    if len(rows.unseen):
        rates = rows.mean(1, by_cell)
        lowest = int(rates.argmin())
        gaps = [
            rows.mean_with_interval(1, by_cell[:, one] - by_cell[:, lowest])
            for one in range(len(rates))
            if one != lowest
        ]
        if rates[lowest] < PART_RIGHT and gaps and all(gap.low > 0 for gap in gaps):
            worst = answers.factors[lowest]
    return PartScores(tuple(scores), worst, _sentence(scores, worst))


def _sentence(scores: Sequence[PartScore], worst: str) -> str:
    if not any(np.isfinite(one.unseen.value) for one in scores):
        return "No unseen cell has answers, so their parts cannot be judged."
    each = ", ".join(f"{one.factor} in {percent(one.unseen.value)}" for one in scores)
    low = [one for one in scores if one.unseen.value < PART_RIGHT]
    if not low:
        return f"Every part is right on most unseen cells: {each} of the answers."
    if not worst:
        names = " and ".join(one.factor for one in low)
        how = "goes" if len(low) == 1 else "go"
        return f"On unseen cells {names} {how} wrong; right is {each} of the answers."
    one = next(score for score in scores if score.factor == worst)
    rest = ", ".join(
        f"{other.factor} in {percent(other.unseen.value)}" for other in scores if other is not one
    )
    right = bracket(one.unseen, unit="%")
    compared = f"Mostly {worst} goes wrong: on unseen cells it is right in {right} of the answers"
    seen = f" (seen cells: {percent(one.seen.value)})" if np.isfinite(one.seen.value) else ""
    against = f", {rest}" if rest else ""
    mostly = ""
    if one.instead is not None and one.other >= max(one.none, one.several):
        mostly = f" Wrong answers mostly name another {worst}, most often {one.instead!s}."
    elif one.none >= one.several:
        mostly = f" Wrong answers mostly name no {worst}."
    else:
        mostly = f" Wrong answers mostly name several levels of {worst}."
    return f"{compared}{seen}{against}.{mostly}"


def _words(parts: Any, table: Observations) -> dict[str, dict[int, list[str]]]:
    """For every part, the texts that stand for each of its levels, by the number of the level."""
    expected = "names of factors, such as ['colour', 'shape'], or words by factor"
    if isinstance(parts, str):
        parts = [part.strip() for part in parts.split(",") if part.strip()]
    asked = parts if isinstance(parts, Mapping) else None
    if asked is None:
        if not isinstance(parts, list | tuple) or not all(isinstance(one, str) for one in parts):
            raise InputError("parts", shown(parts), expected)
        asked = dict.fromkeys(parts, True)
    if not asked:
        raise InputError("parts", shown(parts), expected)
    result = {}
    for name, words in asked.items():
        if name not in table.space.names:
            raise InputError("parts", shown(name), f"one of the factors: {', '.join(table.space.names)}")
        if name in table.bins:
            raise InputError("parts", name, "a factor whose levels have names; this one was cut into ranges")
        result[name] = _level_words(name, words, table.space.factors[table.space.axis(name)].levels, table)
    return result


def _level_words(name: str, words: Any, levels: Sequence[Any], table: Observations) -> dict[int, list[str]]:
    field = f"parts[{name!r}]"
    names = [level for level in levels if level != MISSING]
    if words is True:
        return {number: [str(level)] for number, level in enumerate(names)}
    if isinstance(words, Mapping):
        result = {number: [str(level)] for number, level in enumerate(names)}
        for level, some in words.items():
            texts = [some] if isinstance(some, str) else some
            if not isinstance(texts, list | tuple) or not all(
                isinstance(text, str) and text for text in texts
            ):
                raise InputError(field, shown(some), f"words for level {level!r}")
            result[table.level_index(field, name, level)] = list(texts)
        return result
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) and word for word in words):
        raise InputError(
            field, shown(words), "True, a word for each level, or a mapping from levels to words"
        )
    if len(words) != len(names):
        listed = ", ".join(str(level) for level in names[:8])
        raise InputError(field, f"{len(words)} words", f"one for each of the {len(names)} levels: {listed}")
    return {number: [word] for number, word in enumerate(words)}


def _check_shared_words(words: Mapping[str, Mapping[int, Sequence[str]]], scoring: TextScoring) -> None:
    """Refuses factors whose levels have the same name: nobody knows which of them an answer is about."""
    factor_of: dict[tuple[str, ...], str] = {}
    for factor, texts in words.items():
        for text in (text for some in texts.values() for text in some):
            other = factor_of.setdefault(scoring.words(text), factor)
            if other != factor:
                got = f"{text!r} as a level of {other} and of {factor}"
                raise InputError("parts", got, "factors whose levels have different names")


def _plain(one: Estimate) -> dict[str, Any]:
    return {"estimate": plain_number(one.value), "interval": plain_interval(*one.pair)}
