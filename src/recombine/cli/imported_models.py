"""Models that are named on the command line, `module:name`, with weights from a file."""

from __future__ import annotations

import copy
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


def earlier_model(before: str, model: str) -> Any:
    """The version before finetuning: a model of its own, or a file with weights for `model`.

    It is a copy, because both may be named by one object, into which the weights of the later version are loaded.
    """
    from recombine.models import load_weights, takes_weights

    try:
        if Path(before).suffix.lower() not in {".npz", ".safetensors", ".eqx"}:
            return copy.deepcopy(imported_model(before, None)[0])
        version = copy.deepcopy(imported_model(model, None)[0])
        if not takes_weights(version):
            raise InputError("model", model, "a PyTorch or Equinox module to load weights into")
        return load_weights(version, before)
    except InputError as error:
        raise InputError("--before", error.got, error.expected) from None
