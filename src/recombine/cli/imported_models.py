"""Models that are named on the command line, `module:name`, with weights from a file."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import typer

from recombine.errors import InputError


def imported_model(name: str, weights: Path | None) -> tuple[Any, Path | None]:
    """The model, with its weights if they can be loaded into it; otherwise also the weights' path.

    What its code prints goes to standard error, so that a report, or JSON, stands alone.
    """
    from recombine.models import ModelError, import_model, load_weights, takes_weights

    try:
        with redirect_stdout(sys.stderr):
            model = import_model(name)
            if weights is None or not takes_weights(model):
                return model, weights
            return load_weights(model, weights), None
    except ModelError as error:
        if "No module named 'torch'" in error.words:
            expected = 'a model whose imports are installed; PyTorch is with pip install "recombine[torch]"'
            raise InputError("model", name, expected) from None
        typer.echo(error.trace.rstrip(), err=True)
        raise InputError("model", name, f"one that can be imported and made ({error.words})") from None
