"""Options of `recombine audit` about free text and scores, and what they mean together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.data.text import TextScoring

TextOption = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="exact|contains",
        help="Predictions are free text. exact: an answer is right if it is the target, apart from case, punctuation, "
        "articles and number words; contains: if it names the target.",
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


def text_options(text: str | None, synonyms: Path | None, parts: str | None) -> TextScoring | None:
    """How free text is compared; `None` if predictions are not text."""
    if text is None and parts is None:
        if synonyms is not None:
            raise InputError("synonyms", str(synonyms), "--text or --parts to go with it")
        return None
    from recombine.data.synonyms import read_synonyms
    from recombine.data.text import TextScoring

    if text not in (None, "exact", "contains"):
        raise InputError("text", text, "exact or contains")
    return TextScoring(
        synonyms={} if synonyms is None else read_synonyms(synonyms), match="exact" if text is None else text
    )
