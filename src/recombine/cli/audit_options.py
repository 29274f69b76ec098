"""Options of `recombine audit` about errors, free text and scores, and what they mean together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.data.text import TextScoring

MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric", metavar="NAME", help="What an error is: squared (default), absolute, relative or log."
    ),
]
WeighOption = Annotated[
    str,
    typer.Option("--weigh", metavar="cells|rows", help="Whether every cell counts once, or by its rows."),
]
SlicesOption = Annotated[
    str | None,
    typer.Option(
        "--slices", metavar="COLUMNS", help="Further columns that may separate right from wrong cells."
    ),
]
TextOption = Annotated[
    bool,
    typer.Option(
        "--text",
        help="Predictions are free text. An answer is right if it is the target, apart from case, punctuation, "
        "articles and number words.",
    ),
]
MatchOption = Annotated[
    str | None,
    typer.Option(
        "--match",
        metavar="exact|contains",
        help="For free text: whether an answer must be the target, or name it.",
    ),
]
SynonymsOption = Annotated[
    Path | None,
    typer.Option(
        "--synonyms",
        metavar="FILE",
        help="For --text or --parts: a JSON object, or a CSV or TSV file with two columns: variant, canonical.",
    ),
]
PartsOption = Annotated[
    str | None,
    typer.Option(
        "--parts",
        metavar="FACTORS",
        help="Factors whose levels free-text answers should name: colour,shape. Says which of them goes wrong.",
    ),
]
TopKOption = Annotated[
    str | None,
    typer.Option(
        "--top-k",
        metavar="NUMBERS",
        help="For scores: how often the target is among the first classes: 1,5.",
    ),
]


def parse_ranks(text: str | None) -> tuple[int, ...] | None:
    """`"1,5"` as numbers."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and len(word) < 10 for word in words):
        raise InputError("top-k", text, "whole numbers from 1 on, such as 1,5")
    return tuple(int(word) for word in words)


def text_options(match: str | None, synonyms: Path | None, *, asked: bool) -> TextScoring | None:
    """How free text is compared; `None` if predictions are not text. `asked`: whether an option says that they are."""
    if not asked and match is None:
        if synonyms is not None:
            raise InputError("synonyms", str(synonyms), "--text or --parts to go with it")
        return None
    from recombine.data.synonyms import read_synonyms
    from recombine.data.text import TextScoring

    if match not in (None, "exact", "contains"):
        raise InputError("match", match, "exact or contains")
    return TextScoring(
        synonyms={} if synonyms is None else read_synonyms(synonyms),
        match="exact" if match is None else match,
    )
