"""Reading two versions of a model, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.metrics.gram import as_units
from recombine.metrics.reuse import weight_displacement
from recombine.models import as_model
from recombine.models.model import Model
from recombine.models.model_inputs import Inputs
from recombine.models.model_outputs import same_order
from recombine.models.parameters import check_finite, signed_weights
from recombine.reuse.kernel import tangent_movement
from recombine.reuse.layers import MIN_ROWS, layer_reuse, max_rows
from recombine.reuse.result import ReuseReport
from recombine.reuse.units import unit_shares
from recombine.tasks.draws import checked_seed

MEMORY = 512 * 2**20
"""Bytes of activations that are kept at once."""


def reuse_report(
    before: Any,
    after: Any,
    inputs: Any = None,
    *,
    layers: Sequence[str] | None = None,
    name: str = "model",
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ReuseReport:
    """What finetuning, or any further training, kept of a model's representations.

    **Arguments:**

    - `before`, `after`: two versions of one model (PyTorch, JAX or scikit-learn); or mappings from names of layers to
        activations `(rows, ...)` for the same inputs, in order; of several the last is taken for the readout, so that
        the one before it decides.
    - `inputs`: of the models, at least 40 rows, best those of the new task; not needed with activations.
    - `layers`: names of layers; by default all that both have.
    - `name`: what the report calls the model.
    - `seed`: of the resampling behind the intervals.
    - `progress`: called with the share of layers done.

    ```python
    >>> import numpy as np
    >>> from recombine import reuse_report
    >>> x = np.random.default_rng(0).normal(size=(400, 30)) * (np.arange(30) < 10)
    >>> reuse_report({"hidden": x}, {"hidden": x * (np.arange(30) < 3)})
    ReuseReport(model, 400 rows: hidden nested)

    ```
    """
    for field, version in (("before", before), ("after", after)):
        if version is None:
            raise InputError(field, None, "a model or activations: both versions are needed")
    seed = checked_seed(seed)
    given = isinstance(before, Mapping), isinstance(after, Mapping)
    if given[0] != given[1]:
        raise InputError(
            "before, after", "a model and activations", "two models, or two mappings of activations"
        )
    if given[0]:
        if inputs is not None:
            raise InputError("inputs", "inputs", "nothing, where activations are given")
        return _from_activations(before, after, layers, name, seed, progress)
    if inputs is None:
        raise InputError("inputs", None, "the inputs on which the two models are compared")
    old, new = _adapted("before", before, inputs), _adapted("after", after, inputs)
    names = _comparable(old, new, layers)
    widest = max(int(np.prod(old.shapes[layer])) for layer in names)
    if old.rows > max_rows(widest):
        fewer = as_given(old.inputs.spread(max_rows(widest)))
        old, new = as_model(before, fewer), as_model(after, fewer)
    tell = progress or (lambda share: None)
    found = []
    for layer, x, y in _activations(old, new, names):
        found.append(layer_reuse(layer, x, y, seed=seed))
        tell(len(found) / (len(names) + 1))
    weights, new_weights = signed_weights(old), signed_weights(new)
    movement = tangent_movement(old, new, seed=seed)
    tell(1.0)
    notes = [*dict.fromkeys([*old.notes, *new.notes])]
    if isinstance(movement, str):
        notes.append(f"the movement of the tangent kernel was not measured: {movement}")
    units = {} if weights is None or new_weights is None else unit_shares(weights, new_weights)
    return ReuseReport(
        name,
        tuple(found),
        old.rows,
        _displacement(weights, new_weights, names),
        units,
        None if isinstance(movement, str) else movement,
        _last_hidden(new, new_weights, names),
        tuple(notes),
    )


def as_given(inputs: Inputs) -> Any:
    """Inputs in the form in which a user passes them: an array, several, or a mapping."""
    if inputs.names is not None:
        return dict(zip(inputs.names, inputs.parts, strict=True))
    return inputs.parts[0] if len(inputs.parts) == 1 else inputs.parts


def _adapted(field: str, model: Any, inputs: Any) -> Model:
    """The model with its inputs; errors about it name `before` or `after`."""
    try:
        adapted = as_model(model, inputs)
    except InputError as error:
        raise InputError(field, error.got, error.expected) if error.field == "model" else error from None
    check_finite(field, adapted)
    return adapted


def _comparable(old: Model, new: Model, asked: Sequence[str] | None) -> list[str]:
    """The layers to compare; an `InputError` if the two are not versions of one model."""
    if old.framework != new.framework:
        raise InputError("after", new.framework, f"a model of the same framework, {old.framework}")
    names = _common(old.layers, new.layers, asked)
    for layer in names:
        if old.shapes.get(layer) != new.shapes.get(layer):
            expected = (
                f"the shape before, {old.shapes.get(layer)}; layers=[...] compares the other layers only"
            )
            raise InputError(f"layer {layer!r}", new.shapes.get(layer), expected)
    if old.rows < MIN_ROWS:
        raise InputError("inputs", old.rows, f"at least {MIN_ROWS} rows")
    return names


def _last_hidden(model: Model, weights: Mapping[str, np.ndarray] | None, names: Sequence[str]) -> str:
    """The last layer before the readout: what follows it has the directions of the new task.

    The readout is the last layer with weights (a softmax may follow). If weights cannot be read, it is the last layer,
    or the first of several at the end that order the outputs alike, as scores and their softmax do. It may be missing
    from `names`: the user can leave it out, and scikit-learn does not show it as a layer.
    """
    order = list(model.layers)
    readout = list(weights)[-1] if weights else order[-1]
    if not weights:
        few = next(iter(model.run(order)))
        for layer in reversed(order[1:]):
            if not same_order(few.activities[layer], few.outputs):
                break
            readout = layer
    first = order.index(readout) if readout in order else len(order)
    hidden = [layer for layer in names if layer in order[:first]]
    return hidden[-1] if hidden else names[-1]


def _from_activations(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    layers: Sequence[str] | None,
    name: str,
    seed: int,
    progress: Callable[[float], None] | None,
) -> ReuseReport:
    names = _common(tuple(before), tuple(after), layers)
    for version in (before, after):
        for layer in names:
            if np.ndim(version[layer]) < 2:
                raise InputError(f"activations of {layer!r}", version[layer], "an array (rows, units, ...)")
    rows = {len(version[layer]) for version in (before, after) for layer in names}
    if len(rows) != 1:
        raise InputError("activations", sorted(rows), "as many rows in every layer, before and after")
    count = rows.pop()
    widest = max(as_units(np.asarray(before[layer])).shape[1] for layer in names)
    taken = np.linspace(0, count - 1, min(count, max_rows(widest))).round().astype(int)
    found = []
    for layer in names:
        x, y = (np.asarray(version[layer])[taken] for version in (before, after))
        found.append(layer_reuse(layer, x, y, seed=seed))
        if progress is not None:
            progress(len(found) / len(names))
    if len(names) == 1:
        return ReuseReport(name, tuple(found), len(taken), {}, {}, None, names[0], ())
    note = f"{names[-1]!r}, the last entry, is taken for the readout; {names[-2]!r} before it decides"
    return ReuseReport(name, tuple(found), len(taken), {}, {}, None, names[-2], (note,))


def _common(before: Sequence[str], after: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    """Layers of both versions; an `InputError` names one that is missing."""
    if isinstance(asked, str):
        raise InputError("layers", asked, f"a list of names, such as [{asked!r}]")
    wanted = [layer for layer in before if layer in asked] if asked is not None else list(before)
    wanted += [layer for layer in dict.fromkeys(asked or ()) if layer not in before]
    for layer in wanted:
        for version, names in (("before", before), ("after", after)):
            if layer not in names:
                shown = ", ".join(names[:8]) or "none"
                raise InputError(
                    f"layer {layer!r}", f"missing {version}", f"a layer of both versions ({shown})"
                )
    extra = [layer for layer in after if asked is None and layer not in before]
    if extra:
        raise InputError(f"layer {extra[0]!r}", "missing before", "two versions of the same model")
    if not wanted:
        raise InputError("layers", "none", "a model whose layers can be read, or activations")
    return wanted


def _activations(
    old: Model, new: Model, names: Sequence[str]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Activations of one layer after another; as many layers are read together as fit into memory."""
    group: list[str] = []
    size = 0
    for layer in names:
        needed = 2 * old.rows * int(np.prod(old.shapes[layer])) * 4
        if group and size + needed > MEMORY:
            yield from _read(old, new, group)
            group, size = [], 0
        group.append(layer)
        size += needed
    yield from _read(old, new, group)


def _read(old: Model, new: Model, group: Sequence[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    versions: list[dict[str, np.ndarray]] = []
    for model in (old, new):
        pieces: dict[str, list[np.ndarray]] = {layer: [] for layer in group}
        for chunk in model.run(group):
            for layer in group:
                pieces[layer].append(np.asarray(chunk.activities[layer], dtype=np.float32))
        versions.append({layer: np.concatenate(found) for layer, found in pieces.items()})
    for layer in group:
        yield layer, versions[0].pop(layer), versions[1].pop(layer)


def _displacement(
    before: Mapping[str, np.ndarray] | None, after: Mapping[str, np.ndarray] | None, names: Sequence[str]
) -> dict[str, float]:
    """How far the weights of the compared layers moved, where they can be read."""
    if before is None or after is None:
        return {}
    try:
        return weight_displacement(*({n: w for n, w in own.items() if n in names} for own in (before, after)))
    except InputError as error:
        raise InputError("after", str(error), "another version of the same model") from None
