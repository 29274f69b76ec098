"""Scores by row instead of outputs: what a user's function says about each answer.

Without labels or quantities there is nothing that a rule could predict, so only errors are compared: 1 - score, with
those of a constant answer, the commonest training target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.error_measure import ABSOLUTE
from recombine.auditing.outputs import Outputs
from recombine.auditing.scores import Scores
from recombine.auditing.text.text_labels import excerpt
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.auditing.findings import Finding

NEED_OUTPUTS = ("shortcut", "memorisation_leak", "superposition", "additive_only")
"""Findings that look for a rule in the outputs."""
NOT_APPLICABLE = "Needs labels or quantities; here every row has only a score."
NO_FORECAST = (
    "There is no forecast from the split: it needs labels or quantities, and here every row has only a score."
)


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores from 0 (wrong) to 1 (right).

    **Attributes:**

    - `scores`: of the model's answers; `constant`: of the commonest training target as the answer to every row.
    - `known`: whether a row has a target; `measure`: what an error is.
    - `texts`: a number for the target and one for the answer of every row, equal for equal texts.
    """

    scores: Float[np.ndarray, " rows"]
    constant: Float[np.ndarray, " rows"]
    known: Bool[np.ndarray, " rows"]
    measure: str
    texts: Float[np.ndarray, "rows 2"]

    @property
    def outputs(self) -> Outputs:
        """Scores as a quantity that should be 1; the error is what is missing."""
        right = np.ones((len(self.scores), 1))
        measure = replace(ABSOLUTE, title=self.measure)
        return Outputs("regression", right, self.scores[:, None], self.known, (), (), (), measure)

    def cells(self, cells: Cells) -> Cells:
        """Cells with the errors of a constant answer."""
        rows = cells.measured
        of_constant = means_by_cell(
            1 - self.constant[:, None], rows.cell_index, len(cells.cells), rows.counts
        )[:, 0]
        # A score already says how right an answer is, so there is no noise in targets to look for.
        return replace(
            cells,
            error_of_constant=of_constant,
            excess_of_constant=of_constant,
            replicated=True,
            scored=True,
            texts=means_by_cell(self.texts, rows.cell_index, len(cells.cells)),
        )

    def judged(self, scores: Scores, cells: Cells) -> Scores:
        """Scores with the one baseline that can be scored here."""
        of_constant = cells.error_of_constant[cells.outside]
        if not len(of_constant):
            return scores
        return replace(
            scores, baselines={"constant": cells.possible(cells.mean_error(of_constant, cells.outside))}
        )


def without_outputs(findings: dict[str, Finding]) -> dict[str, Finding]:
    """Findings of which those about rules do not apply."""
    return {
        id: type(one).not_applicable(NOT_APPLICABLE) if id in NEED_OUTPUTS else one
        for id, one in findings.items()
    }


def score_rows(
    function: Callable[[str, str], Any],
    targets: Sequence[str | None],
    predictions: Sequence[str | None],
    training: Bool[np.ndarray, " rows"],
) -> RowScores:
    """Calls a user's function once for every pair of a target and an answer; a missing answer is empty text.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.text.row_scores import score_rows
    >>> share = lambda target, answer: len(set(target) & set(answer)) / len(set(target))
    >>> score_rows(share, ["ab", "cd", None], ["a", None, "x"], np.array([True, True, False])).scores.tolist()
    [0.5, 0.0, 0.0]

    ```
    """
    known = np.array([text is not None for text in targets])
    if not known.any():
        raise InputError("target", "no text in any row", "targets to compare answers with")
    constant = commonest_target(targets, training)
    cache: dict[tuple[str, str], float] = {}

    def score(target: str | None, answer: str, row: int) -> float:
        if target is None:
            return 0.0
        if (target, answer) not in cache:
            cache[target, answer] = _score(function, target, answer, row)
        return cache[target, answer]

    rows = list(zip(targets, predictions, strict=True))
    scores = [score(target, answer or "", row) for row, (target, answer) in enumerate(rows, start=1)]
    of_constant = [score(target, constant, row) for row, target in enumerate(targets, start=1)]
    texts = text_numbers(targets, predictions)
    return RowScores(np.array(scores), np.array(of_constant), known, "mean of 1 - score", texts)


def text_numbers(*columns: Sequence[str | None]) -> Float[np.ndarray, "rows columns"]:
    """Texts as numbers, equal for equal texts of a column; a missing text is empty."""
    numbers = (np.unique([text or "" for text in column], return_inverse=True)[1] for column in columns)
    return np.stack(list(numbers), axis=1).astype(np.float64)


def commonest_target(targets: Sequence[str | None], training: Bool[np.ndarray, " rows"]) -> str:
    """The target that most training rows have: the answer of a constant."""
    rows = zip(targets, training.tolist(), strict=True)
    counts = Counter(text for text, train in rows if train and text is not None)
    return counts.most_common(1)[0][0] if counts else ""


def _score(function: Callable[[str, str], Any], target: str, answer: str, row: int) -> float:
    pair = f"target {excerpt(target)} and prediction {excerpt(answer)} in row {row}"
    expected = "a number from 0 (wrong) to 1 (right) from the function that compares text"
    try:
        score = function(target, answer)
    except Exception as error:  # a user's function may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InputError("text.match", f"an error for {pair} ({reason})", expected) from error
    try:
        number = float(score) if not isinstance(score, str | bytes) and np.ndim(score) == 0 else np.nan
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not 0 <= number <= 1:
        got = " ".join(repr(score).split())[:40]
        raise InputError("text.match", f"{got} for {pair}", expected)
    return number
