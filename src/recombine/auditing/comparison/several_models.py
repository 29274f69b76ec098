"""Auditing several models on the same table, one after the other, so that they can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from recombine.auditing.comparison.comparison import AuditComparison
from recombine.auditing.comparison.model_pairs import compare_errors
from recombine.auditing.thresholds import MAX_MODEL_NAME, MAX_MODELS
from recombine.data.argument_types import shown
from recombine.data.files import is_path
from recombine.data.tables import read_table
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def compare_models(run: Callable[..., AuditReport], arguments: Mapping[str, Any]) -> AuditComparison:
    """Audits every model of a mapping and compares them.

    **Arguments:**

    - `run`: audits one model.
    - `arguments`: its arguments, in which `prediction` or `model`, or both, are mappings by model.
    """
    names = _names(arguments)
    common = {field: arguments[field] for field in signature(run).parameters}
    if is_path(common["table"]):  # read once; standard input cannot be read twice
        common["table"] = read_table(common["table"], {})
    if common["name"] is not None:
        raise InputError("name", common["name"], "no name, since the mapping names the models")
    for field in ("before", "activations"):
        if common[field] is not None:
            raise InputError(field, shown(common[field]), "one model at a time, since it belongs to one")
    tell = common["progress"]
    reports = {}
    for number, name in enumerate(names):
        own = {field: common[field][name] for field in ("prediction", "model") if common[field] is not None}
        if tell is not None:
            own["progress"] = _named_progress(tell, name, number, len(names))
        try:
            reports[name] = run(**(common | own | {"name": name}))
        except InputError as error:
            if error.field not in {"prediction", "model"} or len(names) == 1:
                raise
            raise InputError(f"{error.field} of {name!r}", error.got, error.expected) from None
    kinds = {name: one.outputs.kind for name, one in reports.items() if one.outputs is not None}
    if len(set(kinds.values())) > 1:
        words = {"classification": "labels", "regression": "quantities"}
        got = ", ".join(f"{words[kind]} of {name!r}" for name, kind in kinds.items())
        raise InputError(
            "prediction", got, "one kind for all models; kind='classification' or 'regression' sets it"
        )
    return compare_errors(reports, seed=arguments["seed"])


def _names(arguments: Mapping[str, Any]) -> list[str]:
    """The names of the models, which are those of every mapping."""
    mappings = {field: arguments[field] for field in ("prediction", "model") if arguments[field] is not None}
    for field, values in mappings.items():
        if not isinstance(values, Mapping):
            other = "model" if field == "prediction" else "prediction"
            raise InputError(field, shown(values), f"one for each model, by name, since {other} is a mapping")
        if not values:
            raise InputError(field, "an empty mapping", "at least one model: {'v1': ..., 'v2': ...}")
    first, *others = mappings.values()
    names = list(first)
    for other in others:
        if set(other) != set(names):
            raise InputError(
                "model", list(other), f"the models that have predictions: {', '.join(map(str, names))}"
            )
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError("prediction", shown(name), "names of models as keys: {'v1': ..., 'v2': ...}")
        if len(name) > MAX_MODEL_NAME or not name.isprintable():
            expected = f"names of at most {MAX_MODEL_NAME} characters, none of them a control character"
            raise InputError("prediction", name[:MAX_MODEL_NAME], expected)
    if len(names) > MAX_MODELS:
        raise InputError("prediction", f"{len(names)} models", f"at most {MAX_MODELS} at once")
    return names


def _named_progress(
    tell: Callable[[str, float], None], name: str, number: int, total: int
) -> Callable[[str, float], None]:
    def told(step: str, share: float) -> None:
        tell(f"{name} ({number + 1} of {total}): {step}", share)

    return told
