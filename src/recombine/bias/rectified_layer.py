"""The last hidden layer of rectified units in any model: its inputs, gates, activities and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.models import Model, as_model

Array = np.ndarray
MIN_SILENT = 1e-4
"""Share of exact zeros from which a layer that is never negative counts as rectified."""
SAME = 1e-3
"""Relative error up to which weights are those that produced the activities."""
NO_BIAS = 1e-5
"""Biases up to this share of the largest activity are rounding: the layer has none."""
SATURATED = 1e-6
"""Probabilities closer than this to 0 or 1 do not tell the score behind them."""


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
    activities, outputs = _activities(adapted)
    found = _rectified_layers(adapted.layers, activities, rows, outputs)
    if layer is not None:
        if layer not in activities:
            raise InputError("layer", layer, f"one of {', '.join(adapted.layers) or 'none'}")
        if layer not in found:
            raise InputError(
                "layer", layer, "a layer of rectified units (never negative, and silent at times)"
            )
    elif not found:
        shown = ", ".join(adapted.layers[:8]) or "none that can be read"
        raise InputError(
            "model",
            f"layers {shown}",
            "a hidden layer of rectified units (never negative, and silent at times)",
        )
    chosen = found[-1] if layer is None else layer
    before = found[: found.index(chosen)]
    received = _flat(activities[before[-1]]) if before else rows
    notes = list(dict.fromkeys(adapted.notes))
    if before:
        notes.append(f"the model has {len(before) + 1} rectified layers; {chosen!r}, the last, is compared")
    own = _flat(activities[chosen])
    weights = _weights(adapted, chosen, received, own, outputs)
    if constant is None:
        constant = weights is None or _has_biases(weights, own)
    if constant:
        received = np.concatenate([received, np.ones((len(received), 1))], axis=1)
    elif weights is not None:
        weights = replace(weights, incoming=weights.incoming[:-1])
    return RectifiedLayer(chosen, len(before), received, own, outputs, weights, tuple(notes), constant)


def _has_biases(weights: LayerWeights, activities: Array) -> bool:
    return bool(np.abs(weights.incoming[-1]).max() > NO_BIAS * float(activities.max()))


def _as_rows(model: Model) -> Array:
    parts = model.inputs.parts
    if len(parts) != 1:
        raise InputError("inputs", f"{len(parts)} arrays", "one array (rows, ...)")
    return _flat(np.asarray(parts[0]))


def _activities(model: Model) -> tuple[dict[str, Array], Array]:
    pieces: dict[str, list[Array]] = {name: [] for name in model.layers}
    outputs = []
    for chunk in model.run(model.layers):
        outputs.append(np.asarray(chunk.outputs, dtype=np.float64).reshape(len(chunk.outputs), -1))
        for name in model.layers:
            pieces[name].append(np.asarray(chunk.activities[name], dtype=np.float64))
    both = {name: np.concatenate(own) for name, own in pieces.items()}
    together = np.concatenate(outputs)
    if not np.isfinite(together).all():
        raise InputError("model", "outputs with NaN or infinity", "finite outputs")
    return both, together


def _rectified_layers(
    names: Sequence[str], activities: dict[str, Array], rows: Array, outputs: Array
) -> list[str]:
    """Rectified layers; not the outputs, nor layers that pass on the inputs or another layer, as dropout does."""
    found: list[str] = []
    known = [rows, outputs]
    for name in names:
        own = _flat(activities[name])
        if _rectified(own) and not any(own.shape == one.shape and np.array_equal(own, one) for one in known):
            found.append(name)
            known.append(own)
    return found


def _rectified(activity: Array) -> bool:
    return bool((activity >= 0).all() and np.mean(activity == 0) >= MIN_SILENT and (activity > 0).any())


def _flat(array: Array) -> Array:
    return np.asarray(array, dtype=np.float64).reshape(len(array), -1)


def _weights(model: Model, layer: str, received: Array, own: Array, outputs: Array) -> LayerWeights | None:
    """Weights of the last two dense layers, biases last, if they reproduce the layer's activities and the outputs."""
    chain = model.weights()
    if chain is None or len(chain) < 2:
        return None
    incoming, outgoing = list(chain.values())[-2:]
    if incoming.shape != (received.shape[1], own.shape[1]) or len(outgoing) != own.shape[1]:
        return None
    incoming, outgoing = incoming.astype(np.float64), outgoing.astype(np.float64)
    before = received @ incoming
    on = own > 0
    # Where a unit is on, its activity is its input plus its bias; a unit that is never on has none to find.
    bias = np.where(on.any(axis=0), ((own - before) * on).sum(axis=0) / np.maximum(on.sum(axis=0), 1), 0.0)
    rebuilt = np.maximum(before + bias, 0) * on
    if np.abs(rebuilt - own).max() > SAME * float(np.abs(own).max()):
        return None
    output_bias = _output_bias(own @ outgoing, outputs)
    if output_bias is None:
        return None
    return LayerWeights(np.concatenate([incoming, bias[None]]), outgoing, output_bias)


def _output_bias(readout: Array, outputs: Array) -> Array | None:
    """The readout's bias, if the outputs are the readout plus a bias, or the probabilities that it gives."""
    for scores in _scores_behind(outputs, readout.shape[1]):
        usable = np.isfinite(scores).all(axis=1)
        if scores.shape != readout.shape or not usable.any():
            continue
        left = (scores - readout)[usable]
        if scores is not outputs and left.shape[1] > 1:
            left = left - left.mean(axis=1, keepdims=True)  # log-probabilities leave a constant per row open
        spread = float(np.abs(left - left.mean(axis=0)).max())
        if spread <= SAME * max(1.0, float(np.abs(readout[usable]).max())):
            return np.asarray(left.mean(axis=0))
    return None


def _scores_behind(outputs: Array, columns: int) -> list[Array]:
    """The outputs themselves, and the scores behind them if they are probabilities; not finite where saturated."""
    if not ((outputs >= 0).all() and (outputs <= 1).all()):
        return [outputs]
    logs = np.log(np.maximum(outputs, 1e-300))
    if outputs.shape[1] > 2 or columns == 2:
        return [outputs, np.where((outputs > SATURATED).all(axis=1, keepdims=True), logs, np.nan)]
    first = outputs[:, -1:]  # of the second class
    inside = (first > SATURATED) & (first < 1 - SATURATED)
    return [outputs, np.where(inside, logs[:, -1:] - np.log(np.maximum(1 - first, 1e-300)), np.nan)]


def as_labels(targets: Any, rows: int) -> tuple[Array, Sequence[Any]]:
    """Class numbers `(rows,)` and the classes."""
    found = np.asarray(targets)
    if found.shape == (rows, 1):
        found = found[:, 0]
    if found.shape != (rows,):
        raise InputError("targets", found.shape, f"one label per row, {rows}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise InputError("targets", "NaN or infinity", "labels")
    classes, numbers = np.unique(found, return_inverse=True)
    if len(classes) < 2:
        raise InputError("targets", f"only the label {classes[0]!r}", "at least two classes")
    if len(classes) > MAX_CLASSES:
        expected = f"at most {MAX_CLASSES} classes; real numbers are not labels"
        raise InputError("targets", f"{len(classes)} different values", expected)
    return numbers.ravel(), classes.tolist()


MAX_CLASSES = 20
