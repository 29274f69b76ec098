"""Free-text answers as labels: the targets are the classes, and an answer is the class that it matches."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from recombine.auditing.text.phrases import Phrases
from recombine.data.limits import MAX_CLASSES
from recombine.data.text import ARTICLES, TextScoring
from recombine.errors import InputError
from recombine.report import count

OTHER = "(other)"
"""The class of answers that match no target."""
MAX_EXCERPT = 60
"""Characters of an answer, or of a class, that a report shows."""
MAX_EXAMPLES = 3
"""Answers without a class that a report shows."""


@dataclass(frozen=True, eq=False)
class TextLabels:
    """Classes instead of texts.

    **Attributes:**

    - `classes`: the targets, each in the spelling that most rows have; at the end the class of other answers, if there
        are any.
    - `targets`: the class of every row's target, `None` without one; `predictions`: the class of every answer.
    - `notes`: how texts were compared, and which answers match no class.
    """

    classes: tuple[str, ...]
    targets: tuple[str | None, ...]
    predictions: tuple[str, ...]
    notes: tuple[str, ...]


def text_labels(
    targets: Sequence[str | None], predictions: Sequence[str | None], scoring: TextScoring
) -> TextLabels:
    """Targets and answers as labels.

    Targets that are the same after normalisation are one class. An answer that names several classes, or none, belongs
    to the class "(other)", as does an empty one.

    ```python
    >>> from recombine.auditing.text.text_labels import text_labels
    >>> from recombine.data import TextScoring
    >>> labels = text_labels(["red cube", "Red cube", "blue ball"], ["A red cube.", "no idea", None], TextScoring())
    >>> labels.targets, labels.predictions
    (('Red cube', 'Red cube', 'blue ball'), ('Red cube', '(other)', '(other)'))

    ```
    """
    written = Counter(text for text in targets if text is not None and text.strip())
    if not written:
        raise InputError("target", "no text in any row", "targets to compare answers with")
    scoring, notes = _keeping_articles(scoring, written)
    spellings: dict[tuple[str, ...], list[str]] = {}
    for text in sorted(written, key=lambda one: (-written[one], one)):
        spellings.setdefault(scoring.words(text), []).append(text)
    if len(spellings) > MAX_CLASSES:
        expected = f"at most {MAX_CLASSES:,}, or text=TextScoring(match=function) for scores by row"
        raise InputError("target", f"{len(spellings):,} different texts", expected)
    names = _display_names([texts[0] for texts in spellings.values()])
    class_of = dict(zip(spellings, names, strict=True))
    other = next(name for name in (OTHER, "(other answers)", "(no class)") if name not in names)
    notes.append(normalisation_sentence(scoring))
    merged = [f"{one} = {same[0]}" for same in spellings.values() for one in same[1:]]
    if merged:
        notes.append(
            f"{count(len(merged), 'spelling')} of targets stand{'s' if len(merged) == 1 else ''} for the same class as "
            f"another after normalisation: {_listed(merged)}"
        )
    label_of, several = _labeller(scoring, class_of, other)
    labels = {
        text: other if text is None or not text.strip() else label_of(text)
        for text in dict.fromkeys(predictions)
    }
    rows = Counter(predictions)
    unmatched = Counter({text: rows[text] for text, label in labels.items() if label == other})
    total = sum(unmatched.values())
    if total == len(predictions):
        example, target = excerpt(next(iter(unmatched)) or ""), excerpt(next(iter(written)))
        expected = f"answers of which some match a target, such as {target}"
        if scoring.match == "exact":
            expected += " (TextScoring(match='contains'), --match contains, finds targets within answers)"
        raise InputError("prediction", f"{example}, and no other answer that matches", expected)
    if total:
        notes.append(unmatched_note(unmatched, len(predictions), other))
    if 2 * total > len(predictions) and scoring.match == "exact":
        notes.append(
            "answers that name a target within a sentence count with match='contains' (--match contains)"
        )
    if several:
        rows_with_several = sum(rows[text] for text in several)
        notes.append(
            f"{count(rows_with_several)} of these name several classes, such as {excerpt(sorted(several)[0])}"
        )
    by_text = {text: class_of[words] for words, texts in spellings.items() for text in texts}
    return TextLabels(
        (*names, other) if total else tuple(names),
        tuple(None if text is None else by_text.get(text) for text in targets),
        tuple(labels[text] for text in predictions),
        tuple(notes),
    )


def normalisation_sentence(scoring: TextScoring, *, by_parts: bool = False) -> str:
    """How texts are compared, for the notes of a report."""
    ignored = [
        what
        for what, asked in (
            ("case", scoring.case),
            ("punctuation", scoring.punctuation),
            ("articles", scoring.articles),
        )
        if asked
    ]
    parts = [f"{', '.join(ignored)} and white space are ignored" if ignored else "white space is ignored"]
    if scoring.numbers:
        parts.append("number words are digits")
    if scoring.synonyms:
        parts.append(f"{count(len(scoring.synonyms), 'synonym')} applied")
    how = "an answer counts if it is the target"
    if scoring.match == "contains":
        how = "an answer counts if it names the target, does not negate it, and names no other class"
    text = f"text was compared after normalisation: {'; '.join(parts)}"
    return text if by_parts else f"{text}; {how} (match={scoring.match!r})"


def excerpt(text: str) -> str:
    """A text between quotation marks, on one line, without invisible characters, and not longer than a line.

    ```python
    >>> from recombine.auditing.text.text_labels import excerpt
    >>> excerpt("a **red**\\n cube")
    "'a red cube'"

    ```
    """
    head = text[: 4 * MAX_EXCERPT]  # of a long answer, no more than is looked at
    visible = "".join(
        " " if sign.isspace() else sign
        for sign in head.replace("**", "").replace("`", "'")
        if sign.isspace() or unicodedata.category(sign)[0] != "C"
    )
    short = " ".join(visible.split())
    cut = len(short) > MAX_EXCERPT or len(text) > len(head)
    return f"'{short[:MAX_EXCERPT].rstrip()}{'…' if cut else ''}'"


def _keeping_articles(scoring: TextScoring, targets: Iterable[str]) -> tuple[TextScoring, list[str]]:
    """Articles count if one of them is a target, as in a choice between A, B and C."""
    if not scoring.articles:
        return scoring, []
    lone = [text for text in targets if {word.casefold() for word in scoring.words(text)} <= ARTICLES]
    if not lone:
        return scoring, []
    return replace(scoring, articles=False), [f"articles were kept, because {excerpt(lone[0])} is a target"]


def _labeller(
    scoring: TextScoring, class_of: dict[tuple[str, ...], str], other: str
) -> tuple[Callable[[str], str], set[str]]:
    """A function from an answer to its class; and the answers that name several, filled while it is used."""
    several: set[str] = set()
    if scoring.match == "exact":
        return lambda text: class_of.get(scoring.words(text), other), several
    phrases = Phrases(scoring, {name: [" ".join(words)] for words, name in class_of.items()})

    def named(text: str) -> str:
        names = phrases.named(text)
        if len(names) > 1:
            several.add(text)
        return next(iter(names)) if len(names) == 1 else other

    return named, several


def _display_names(texts: Sequence[str]) -> list[str]:
    """Different names for classes, long ones cut."""
    names: list[str] = []
    taken: set[str] = set()
    for text in texts:
        short = " ".join(text.split())
        short = short if len(short) <= MAX_EXCERPT else f"{short[:MAX_EXCERPT].rstrip()}…"
        name, number = short, 2
        while name in taken:
            name, number = f"{short} ({number})", number + 1
        taken.add(name)
        names.append(name)
    return names


def unmatched_note(unmatched: Counter[str | None], rows: int, other: str) -> str:
    """How many answers match no class, and some of them."""
    total, empty = (
        sum(unmatched.values()),
        sum(n for text, n in unmatched.items() if not (text or "").strip()),
    )
    shown = [text for text, _ in unmatched.most_common() if text is not None and text.strip()]
    examples = f": {', '.join(excerpt(text) for text in shown[:MAX_EXAMPLES])}" if shown else ""
    more = " …" if len(shown) > MAX_EXAMPLES else ""
    nothing = f"; {count(empty)} of them {'is' if empty == 1 else 'are'} empty" if empty else ""
    return f"{count(total)} of {count(rows)} answers match no class and count as {other}{examples}{more}{nothing}"


def _listed(texts: Sequence[str]) -> str:
    more = " …" if len(texts) > MAX_EXAMPLES else ""
    return ", ".join(excerpt(text) for text in texts[:MAX_EXAMPLES]) + more
