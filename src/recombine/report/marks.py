"""The two marks that text may carry: `` `code` `` and `**strong**`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_MARKS = re.compile(r"`([^`]+)`|\*\*(?=\S)(.+?)(?<=\S)\*\*")


class Span(NamedTuple):
    """A stretch of text with one mark."""

    kind: Literal["text", "code", "strong"]
    text: str


def spans(text: str) -> list[Span]:
    """Splits a text at its marks; a mark that is not closed is ordinary text.

    ```python
    >>> from recombine.report.marks import spans
    >>> [tuple(span) for span in spans("run `x` **now**")]
    [('text', 'run '), ('code', 'x'), ('text', ' '), ('strong', 'now')]

    ```
    """
    result, end = [], 0
    for match in _MARKS.finditer(text):
        if match.start() > end:
            result.append(Span("text", text[end : match.start()]))
        code, strong = match.groups()
        result.append(Span("code", code) if code is not None else Span("strong", strong))
        end = match.end()
    if end < len(text):
        result.append(Span("text", text[end:]))
    return result


def without_marks(text: str) -> str:
    """The text alone, for the terminal and for attributes."""
    return "".join(span.text for span in spans(text))
