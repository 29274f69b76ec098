"""The last hidden layer of rectified units in any model: its inputs, gates, activities and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.models import Model, as_model
from recombine.models.model_outputs import same_order, to_numpy

Array = np.ndarray
MIN_SILENT = 1e-4
"""Share of exact zeros from which a layer that is never negative counts as rectified."""
SAME = 1e-3
"""Relative error up to which weights are those that produced the activities."""
ROUNDING = 1e-6
"""Of numbers in single precision, relative to the largest."""
NO_BIAS = 1e-5
"""Biases up to this share of the largest activity are rounding: the layer has none."""
SATURATED = 1e-4
"""Single probabilities closer than this to 0 or 1 do not tell the score behind them, in single precision."""
TINY = 1e-30
"""Of several probabilities, each is as precise as any number of its size, down to this."""


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """Weights around a rectified layer.

    - `incoming`: `(inputs, units)`, biases as a last row if the layer has them.
    - `outgoing`: `(units, outputs)`; `output_bias`: `(outputs,)`.
    """

    incoming: Float[Array, "inputs units"]
    outgoing: Float[Array, "units outputs"]
    output_bias: Float[Array, " outputs"]


@dataclass(frozen=True, eq=False)
class RectifiedLayer:
    """What is needed of a model to compare it with its limit.

    - `name`: of the layer; `depth`: how many rectified layers come before it.
    - `inputs`: `(rows, inputs)`, what the layer receives, and a constant 1 at the end if `constant`: if the layer has
        biases, or if its weights could not be read. Without biases the limit has none either.
    - `activities`: `(rows, units)`; `gates`: where they are positive.
    - `outputs`: `(rows, outputs)` of the model.
    - `weights`: where they can be read and explain the activities.
    - `notes`: what a user should know about the model.
    """

    name: str
    depth: int
    inputs: Float[Array, "rows inputs"]
    activities: Float[Array, "rows units"]
    outputs: Float[Array, "rows outputs"]
    weights: LayerWeights | None
    notes: tuple[str, ...]
    constant: bool = True

    @property
    def received(self) -> int:
        """How many numbers the layer receives, without the constant."""
        return self.inputs.shape[1] - self.constant

    def some(self, rows: slice) -> RectifiedLayer:
        """The same for some of the rows."""
        return replace(
            self, inputs=self.inputs[rows], activities=self.activities[rows], outputs=self.outputs[rows]
        )

    @property
    def gates(self) -> Bool[Array, "rows units"]:
        """Whether each unit is on."""
        return np.asarray(self.activities > 0)


def read_layer(
    model: Any, inputs: Any, *, layer: str | None = None, constant: bool | None = None
) -> RectifiedLayer:
    """Reads the last hidden layer of rectified units, or the one that is named.

    **Arguments:**

    - `constant`: append one to the inputs; by default if the layer has biases or its weights cannot be read.
    """
    adapted = as_model(model, inputs)
    rows = _as_rows(adapted)
    chain = adapted.weights() or {}
    activities, outputs = _activities(adapted)
    activities |= _rectified_in_passing(activities, chain)
    links: dict[str, _Incoming | None] = {
        name: _incoming(
            _until(chain, activities, name), [*_earlier(activities, adapted.shapes, name), rows], own
        )
        for name, own in activities.items()
        if _rectified(own)
    }
    found = _rectified_layers(activities, chain, links, [rows, outputs])
    chosen = _chosen(layer, found, activities, adapted)
    own = activities[chosen]
    before = found[: found.index(chosen)]
    link = links[chosen]
    notes = list(dict.fromkeys(adapted.notes))
    if len(found) > 1:
        which = "the last, is" if chosen == found[-1] else "as asked for, is"
        notes.append(f"the model has {len(found)} rectified layers; {chosen!r}, {which} compared")
    received = link.received if link else activities[before[-1]] if before else rows
    weights = _readout(chain, link, activities, own, outputs) if link else None
    if constant is None:
        constant = link is None or bool(np.abs(link.bias).max() > NO_BIAS * float(own.max()))
    if constant:
        received = np.concatenate([received, np.ones((len(received), 1))], axis=1)
    elif weights is not None:
        weights = replace(weights, incoming=weights.incoming[:-1])
    return RectifiedLayer(chosen, len(before), received, own, outputs, weights, tuple(notes), constant)


def _chosen(layer: str | None, found: Sequence[str], activities: Mapping[str, Array], model: Model) -> str:
    if layer is not None and layer not in activities:
        raise InputError("layer", layer, f"one of {', '.join(model.layers) or 'none'}")
    if layer in found:
        return str(layer)
    expected = "a layer of rectified units (never negative, and silent at times)"
    if layer is not None:
        raise InputError("layer", layer, expected)
    if not found:
        shown = ", ".join(model.layers[:8]) or "none that can be read"
        raise InputError("model", f"layers {shown}", expected.replace("a layer", "a hidden layer"))
    return found[-1]


def _as_rows(model: Model) -> Array:
    parts = model.inputs.parts
    if len(parts) != 1:
        raise InputError("inputs", f"{len(parts)} arrays", "one array (rows, ...)")
    return _flat(np.asarray(parts[0]))


def _activities(model: Model) -> tuple[dict[str, Array], Array]:
    pieces: dict[str, list[Array]] = {name: [] for name in model.layers}
    outputs = []
    for chunk in model.run(model.layers):
        outputs.append(_flat(chunk.outputs))
        for name in model.layers:
            pieces[name].append(_flat(chunk.activities[name]))
    both = {name: np.concatenate(own) for name, own in pieces.items()}
    together = np.concatenate(outputs)
    if not np.isfinite(together).all():
        raise InputError("model", "outputs with NaN or infinity", "finite outputs")
    return both, together


def _until(chain: Mapping[str, Array], activities: Mapping[str, Array], name: str) -> dict[str, Array]:
    """The weights that come before a layer, or are its own."""
    names = list(activities)
    return {one: chain[one] for one in names[: names.index(name) + 1] if one in chain}


def _earlier(
    activities: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]], name: str
) -> Iterator[Array]:
    """Activities of the layers before one, nearest first; images also pixel by pixel, as weights read them."""
    names = list(activities)
    for one in reversed(names[: names.index(name)]):
        yield activities[one]
        if len(shapes[one]) == 3:  # (channels, height, width)
            images = activities[one].reshape(-1, *shapes[one])
            yield np.moveaxis(images, 1, -1).reshape(len(images), -1)


def _rectified_in_passing(activities: Mapping[str, Array], chain: Mapping[str, Array]) -> dict[str, Array]:
    """Dense layers whose outputs are rectified by a function rather than by a layer, with their rectified outputs."""
    found = {}
    for name, following in pairwise(chain):
        if name not in activities or following not in activities:
            continue
        own, after, matrix = activities[name], activities[following], chain[following]
        if not (own < 0).any() or matrix.ndim > 2 or len(matrix) != own.shape[1]:
            continue
        rectified = np.maximum(own, 0)
        if any(one.shape == rectified.shape and np.allclose(one, rectified) for one in activities.values()):
            continue  # a layer does it
        if _constant(after - rectified @ matrix, after) and not _constant(after - own @ matrix, after):
            found[name] = rectified
    return found


def _constant(left: Array, of: Array) -> bool:
    """Whether what a readout leaves of a layer is the same for every row: its bias (relative to how layers vary)."""
    spread = float(np.abs(of - of.mean(axis=0)).max())
    return bool(np.abs(left - left.mean(axis=0)).max() <= SAME * spread + ROUNDING * float(np.abs(of).max()))


def _rectified_layers(
    activities: Mapping[str, Array],
    chain: Mapping[str, Array],
    links: Mapping[str, _Incoming | None],
    known: Sequence[Array],
) -> list[str]:
    """Rectified layers: behind weights, not the outputs, and no layer that only passes on or pools another one."""
    names, found, known = list(activities), [], list(known)
    first = next((number for number, name in enumerate(names) if name in chain), 0)
    for name in names[first:]:
        if name not in links:
            continue
        own = activities[name]
        repeats = any(own.shape == one.shape and np.array_equal(own, one) for one in known)
        # What dense weights give is a layer of its own, even if its values happen to occur before.
        if not repeats and (links[name] is not None or not any(_pools(own, one) for one in known)):
            found.append(name)
            known.append(own)
    return found


def _rectified(activity: Array) -> bool:
    return bool((activity >= 0).all() and np.mean(activity == 0) >= MIN_SILENT and (activity > 0).any())


def _pools(own: Array, before: Array) -> bool:
    """Whether a layer only selects or averages values of another, wider one."""
    if own.shape[1] >= before.shape[1]:
        return False
    some = np.flatnonzero((own > 0).any(axis=1))[:100]  # zeros occur anywhere
    if all(np.isin(own[row], before[row]).all() for row in some):
        return True
    return bool(np.allclose(own[some].mean(axis=1), before[some].mean(axis=1), rtol=SAME))


def _flat(array: Array) -> Array:
    return np.asarray(array, dtype=np.float64).reshape(len(array), -1)


@dataclass(frozen=True, eq=False)
class _Incoming:
    """The weights that produced a layer, and what they were applied to."""

    name: str
    matrix: Array
    bias: Array
    received: Array


def _incoming(chain: Mapping[str, Array], candidates: Sequence[Array], own: Array) -> _Incoming | None:
    """The dense layer that reproduces the activities from the inputs or from an earlier layer, such as a scaler's."""
    on = own > 0
    dense = {name: matrix for name, matrix in chain.items() if matrix.ndim == 2}
    for received in candidates:
        for name, matrix in dense.items():
            if matrix.shape != (received.shape[1], own.shape[1]):
                continue
            before = received @ matrix.astype(np.float64)
            # Where a unit is on, its activity is its input plus its bias; a unit that is never on has none to find.
            bias = ((own - before) * on).sum(axis=0) / np.maximum(on.sum(axis=0), 1)
            rebuilt = np.maximum(before + bias, 0) * on
            if np.abs(rebuilt - own).max() <= SAME * float(np.abs(own).max()):
                return _Incoming(name, matrix.astype(np.float64), bias, received)
    return None


def _readout(
    chain: Mapping[str, Array], link: _Incoming, activities: Mapping[str, Array], own: Array, outputs: Array
) -> LayerWeights | None:
    """The weights around a layer, if the one behind it is the last of the chain and explains the outputs."""
    names = list(chain)
    if names.index(link.name) != len(names) - 2:
        return None
    outgoing = chain[names[-1]].astype(np.float64)
    if outgoing.shape[0] != own.shape[1]:
        return None
    readout = own @ outgoing
    scores = activities.get(names[-1])
    if scores is not None and scores.shape == readout.shape and same_order(scores, outputs):
        left = scores - readout
        bias = left.mean(axis=0) if _constant(left, scores) else None
    else:
        bias = _output_bias(readout, outputs)
    if bias is None:
        return None
    return LayerWeights(np.concatenate([link.matrix, link.bias[None]]), outgoing, bias)


def _output_bias(readout: Array, outputs: Array) -> Array | None:
    """The readout's bias, if the outputs are the readout plus a bias, or the probabilities that it gives."""
    for scores in _scores_behind(outputs, readout.shape[1]):
        usable = np.isfinite(scores).all(axis=1)
        if scores.shape != readout.shape or not usable.any():
            continue
        left = (scores - readout)[usable]
        if scores is not outputs and left.shape[1] > 1:
            left = left - left.mean(axis=1, keepdims=True)  # log-probabilities leave a constant per row open
        if _constant(left, readout[usable]):
            return np.asarray(left.mean(axis=0))
    return None


def _scores_behind(outputs: Array, columns: int) -> list[Array]:
    """The outputs themselves, and the scores behind (log-)probabilities; not finite where saturated."""
    if columns > 1 and (outputs <= 0).all() and np.allclose(np.exp(outputs).sum(axis=1), 1, rtol=SAME):
        return [outputs, outputs.copy()]
    if not ((outputs >= 0).all() and (outputs <= 1).all()):
        return [outputs]
    logs = np.log(np.maximum(outputs, TINY))
    if outputs.shape[1] > 2 or columns == 2:
        return [outputs, np.where((outputs > TINY).all(axis=1, keepdims=True), logs, np.nan)]
    first = outputs[:, -1:]  # of the second class
    inside = (first > SATURATED) & (first < 1 - SATURATED)
    return [outputs, np.where(inside, logs[:, -1:] - np.log(np.maximum(1 - first, TINY)), np.nan)]


def as_labels(targets: Any, rows: int) -> tuple[Array, Sequence[Any]]:
    """Class numbers `(rows,)` and the classes."""
    try:
        found = to_numpy(targets)
    except ValueError:
        raise InputError("targets", "entries of different lengths", f"one label per row, {rows}") from None
    if found.shape == (rows, 1):
        found = found[:, 0]
    if found.shape != (rows,):
        raise InputError("targets", found.shape, f"one label per row, {rows}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise InputError("targets", "NaN or infinity", "labels")
    try:
        classes, numbers = np.unique(found, return_inverse=True)
    except TypeError:
        raise InputError("targets", "labels of several kinds", "numbers or strings, and no gaps") from None
    if len(classes) < 2:
        raise InputError("targets", f"only the label {classes[0]!r}", "at least two classes")
    if len(classes) > MAX_CLASSES:
        expected = f"at most {MAX_CLASSES} classes; real numbers are not labels"
        raise InputError("targets", f"{len(classes)} different values", expected)
    return numbers.ravel(), classes.tolist()


MAX_CLASSES = 20
