"""Free-text answers as outputs of an audit: labels, scores by row, and what answers say about each factor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine.auditing.label_reading import read_labels
from recombine.auditing.outputs import Outputs
from recombine.auditing.text.part_scores import PartAnswers, read_parts
from recombine.auditing.text.row_scores import RowScores, commonest_target, score_rows, text_numbers
from recombine.auditing.text.text_labels import OTHER, normalisation_sentence, text_labels, unmatched_note
from recombine.data.argument_types import shown
from recombine.data.limits import MAX_CLASSES
from recombine.data.text import TextScoring, as_texts
from recombine.errors import InputError
from recombine.report import count
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False)
class TextReading:
    """Answers, as written and as outputs.

    **Attributes:**

    - `outputs`: labels; or scores, if `row_scores` are all there is.
    - `targets`, `answers`: the texts of all rows, `None` where there is none.
    - `parts`: what answers say about factors, if that was asked.
    """

    outputs: Outputs
    row_scores: RowScores | None
    targets: tuple[str | None, ...]
    answers: tuple[str | None, ...]
    parts: PartAnswers | None


def text_scoring(text: Any, parts: Any) -> TextScoring | None:
    """The argument `text` of an audit as a `TextScoring`; `None` if outputs are not text."""
    if isinstance(text, TextScoring):
        return text
    if isinstance(text, bool | np.bool_) or text is None:
        return TextScoring() if text or parts is not None else None
    if callable(text) or (isinstance(text, str) and text in ("exact", "contains")):
        return TextScoring(match=text)
    raise InputError("text", shown(text), "True, 'exact', 'contains', a function, or a TextScoring")


def read_text(
    table: Observations,
    targets: Any,
    predictions: Any,
    scoring: TextScoring,
    parts: Any = None,
) -> TextReading:
    """Reads free-text answers.

    **Arguments:**

    - `targets`: the right text of every row. Without it, an answer is right if all `parts` are.
    - `predictions`: the answers.
    - `parts`: as `recombine.auditing.text.part_scores.read_parts` takes them.
    """
    answers = as_texts("prediction", predictions)
    targets = None if targets is None else as_texts("target", targets)
    said = None if parts is None else read_parts(parts, table, answers, scoring)
    if targets is None and said is None:
        raise InputError("target", None, "targets to compare text with, or parts=[...] (--parts)")
    if targets is not None and not callable(scoring.match):
        labels = text_labels(targets, answers, scoring)
        outputs = _labels(labels.targets, labels.predictions, labels.classes, labels.notes)
        outputs = _with_note_on_new_targets(outputs, table)
        return TextReading(outputs, None, tuple(targets), tuple(answers), said)
    if targets is not None:
        assert callable(scoring.match)
        rows = score_rows(scoring.match, targets, answers, table.seen)
        return TextReading(
            replace(rows.outputs, notes=tuple(_notes_on_scores(scoring, answers))),
            rows,
            tuple(targets),
            tuple(answers),
            said,
        )
    assert said is not None
    return _all_parts_right(table, said, answers, scoring)


def _all_parts_right(
    table: Observations, said: PartAnswers, answers: Sequence[str | None], scoring: TextScoring
) -> TextReading:
    """The target is the combination of all parts; an answer is the combination of the levels that it names."""
    names = [[str(level) for level in table.space.factors[axis].levels] for axis in said.axes]

    def joined(levels: np.ndarray) -> str:
        return " ".join(texts[level] for texts, level in zip(names, levels.tolist(), strict=True))

    known, named = np.all(said.levels >= 0, axis=1), np.all(said.named >= 0, axis=1)
    targets = [joined(row) if ok else None for row, ok in zip(said.levels, known, strict=True)]
    predictions = [joined(row) if ok else OTHER for row, ok in zip(said.named, named, strict=True)]
    listed = " and ".join(said.factors)
    notes: tuple[str, ...] = (
        normalisation_sentence(scoring, by_parts=True),
        f"there is no target: an answer is right if it names the levels of {listed}, and no others",
    )
    unmatched = Counter(answer for answer, ok in zip(answers, named, strict=True) if not ok)
    if unmatched:
        notes += (unmatched_note(unmatched, len(answers), OTHER),)
    classes = sorted({text for text in (*targets, *predictions) if text is not None and text != OTHER})
    if len(classes) < MAX_CLASSES:
        if not named.all():
            classes.append(OTHER)
        outputs = _with_note_on_new_targets(_labels(targets, predictions, classes, notes), table)
        return TextReading(outputs, None, tuple(targets), tuple(answers), said)
    right = (said.right == 1).all(axis=1)
    commonest = commonest_target(targets, table.seen)
    constant = np.array([text == commonest for text in targets])
    texts = text_numbers(targets, answers)
    measure = "share of answers with a wrong part"
    rows = RowScores(right.astype(float), constant.astype(float), known, measure, texts)
    return TextReading(replace(rows.outputs, notes=notes), rows, tuple(targets), tuple(answers), said)


def _notes_on_scores(scoring: TextScoring, answers: Sequence[str | None]) -> Iterator[str]:
    name = getattr(scoring.match, "__name__", type(scoring.match).__name__).replace(
        "<lambda>", "your function"
    )
    yield f"answers were scored by {name}, as they were written; the error is 1 - score"
    empty = sum(not (answer or "").strip() for answer in answers)
    if empty:
        yield f"{count(empty)} of {count(len(answers))} answers {'is' if empty == 1 else 'are'} empty"


def _with_note_on_new_targets(outputs: Outputs, table: Observations) -> Outputs:
    """Says so if training has none of the targets of unseen cells, as with a target for every combination."""
    classes = outputs.targets.argmax(axis=1)
    seen_cell = np.isin(table.codes, np.unique(table.codes[table.seen]))
    trained, asked = (np.unique(classes[outputs.known & rows]) for rows in (table.seen, ~seen_cell))
    if not len(asked) or np.isin(asked, trained).any():
        return outputs
    note = (
        "training has none of the targets of unseen combinations, so simple models of whole answers (a constant, the "
        "nearest seen cell, sums) are always wrong there; that says nothing about the parts of an answer"
    )
    return replace(outputs, notes=(*outputs.notes, note))


def _labels(
    targets: Sequence[str | None], predictions: Sequence[str], classes: Sequence[str], notes: Sequence[str]
) -> Outputs:
    right, said = (np.array(list(texts), dtype=object) for texts in (targets, predictions))
    return read_labels(right, said, list(classes), (), list(notes))
