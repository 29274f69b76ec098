"""Several models on the command line: `--prediction v1=p1 --prediction v2=p2`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.errors import InputError


def named_models(field: str, texts: Sequence[str] | None) -> dict[str, str]:
    """What belongs to every model, by its name; a model without a name is called by what belongs to it.

    ```python
    >>> from recombine.cli.several_models import named_models
    >>> named_models("prediction", ["v1=p1", "cat,dog"])
    {'v1': 'p1', 'cat,dog': 'cat,dog'}

    ```
    """
    models: dict[str, str] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        name, value = (name.strip(), value.strip()) if sign else (text.strip(), text)
        if not name or not value:
            raise InputError(
                field, text, f"NAME=VALUE, as in --{field} v1={'p1' if field == 'prediction' else 'm:f'}"
            )
        if name in models:
            raise InputError(field, name, "a different name for every model: NAME=VALUE")
        models[name] = value
    return models


def model_names(predictions: Mapping[str, str], models: Mapping[str, str]) -> list[str]:
    """The names of several models; predictions and models must go by the same ones."""
    if predictions and models and set(predictions) != set(models):
        got = ", ".join(models)
        raise InputError(
            "model", got, f"a model for each prediction, by the same names: {', '.join(predictions)}"
        )
    return list(predictions or models)


def one_or_all(values: Mapping[str, Any], several: bool) -> Any:
    """What `audit` takes: a mapping for several models, the value itself for one, `None` for none."""
    return (dict(values) if several else next(iter(values.values()))) if values else None
