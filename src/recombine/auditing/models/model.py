"""One view of any model: rows in, outputs and activity of layers out, a bounded piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from jaxtyping import Int

from recombine.auditing.models.failing import ModelError, NoDerivativeError, unknown
from recombine.auditing.models.inputs import Column, Inputs
from recombine.errors import InputError

Framework: TypeAlias = Literal["torch", "jax", "sklearn", "callable"]

MEMORY = 128 * 2**20
"""Bytes that inputs, outputs and activity of one piece may take."""
MOST_ROWS = 4096

_TRIED = 3
_COMPARED = 16

TRYING = "while trying a few rows"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive rows: outputs `(n, ...)`, and the activity `(n, ...)` of each layer that was asked for."""

    rows: slice
    outputs: np.ndarray
    activities: dict[str, np.ndarray]


class Backend(Protocol):
    """What a framework has to provide; `Model` does the rest."""

    framework: Framework
    name: str
    function: Callable[..., Any]
    layers: tuple[str, ...]
    """Those that are read unless others are asked for."""
    known: tuple[str, ...]
    """All that can be read."""
    classes: tuple[Any, ...] | None
    notes: list[str]
    fixed: bool
    """Whether all pieces should have one size, because each size is compiled for itself."""

    def read(
        self, inputs: Inputs, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Outputs and activity of some rows; errors of the user's code say `stage`."""
        ...

    def slopes(
        self, inputs: Inputs, column: Column, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Derivatives of outputs and activity along one column of the inputs; `NoDerivativeError` if there are none."""
        ...

    def steady(self) -> AbstractContextManager[None]:
        """The model as it is evaluated: no dropout, no batch statistics; restored afterwards."""
        ...

    def weights(self) -> dict[str, np.ndarray] | str:
        """Matrices from input to output, or why there are none."""
        ...


class Model:
    """A model and its inputs, whatever they are written in; made by `as_model`.

    **Attributes:**

    - `framework`: `"torch"`, `"jax"`, `"sklearn"` or `"callable"`; `name`: a word for it.
    - `inputs`: what it is fed with; `rows`: how many rows they have.
    - `layers`: layers that can be read, in the order of execution.
    - `shapes`: the shape of one row of every layer's activity; `output_shape`: that of one output.
    - `classes`: of a scikit-learn classifier, as its columns of outputs.
    - `function`: the model as a callable, for probes that differentiate; call it within `steady()`.
    - `notes`: what a user should be told.
    """

    def __init__(self, backend: Backend, inputs: Inputs, batch: int | None) -> None:
        self._backend, self.inputs, self._batch = backend, inputs, _checked_batch(batch)
        self.framework, self.name, self.rows = backend.framework, backend.name, inputs.rows
        self.layers, self.classes, self.notes = backend.layers, backend.classes, backend.notes
        self.function = backend.function
        tried = inputs.spread(_TRIED)
        outputs, activities = backend.read(tried, self.layers, TRYING)
        self.output_shape = outputs.shape[1:]
        self.shapes = {name: activity.shape[1:] for name, activity in activities.items()}
        self._sizes = {name: activity.nbytes / _TRIED for name, activity in activities.items()}
        self._row_size = tried.row_bytes + outputs.nbytes / _TRIED
        self._tell_unsteady(outputs)

    def __repr__(self) -> str:
        return f"Model({self.name}, {self.framework}, {self.rows} rows, {len(self.layers)} layers)"

    def run(self, layers: Sequence[str] = (), *, batch: int | None = None) -> Iterator[Chunk]:
        """Outputs, and the activity of `layers`, for all rows in order, a piece of bounded size at a time.

        **Arguments:**

        - `layers`: some of `self.layers`.
        - `batch`: rows at a time; by default as many as fit into 128 MB together with their activity, at most 4096.
        """
        chosen = tuple(dict.fromkeys([layers] if isinstance(layers, str) else layers))
        for name in chosen:
            self._check_known(name)
        size = _checked_batch(batch) or self._batch or self.batch_size(chosen)
        return self._chunks(chosen, min(size, self.rows))

    def differentiable(self, column: Column, layers: Sequence[str], step: float) -> bool:
        """Whether automatic derivatives along a column can be had, and are what differences of some rows say.

        (A model that computes something without gradients has derivatives of zero.)
        """
        tried = self.inputs.spread(_COMPARED)
        try:
            exact = self._backend.slopes(tried, column, layers, TRYING)
        except (NoDerivativeError, ModelError):
            return False
        by_steps = self._differences(tried, column, layers, step, TRYING)
        return all(_close(exact[1][name], by_steps[1][name]) for name in layers)

    def slopes(
        self, column: Column, layers: Sequence[str], rows: Int[np.ndarray, " sample"], *, step: float | None
    ) -> Iterator[Chunk]:
        """How outputs and layers of some rows change with one column of the inputs, per unit of it.

        - `rows`: which rows; those of a piece are counted among them.
        - `step`: take central differences this wide on each side, instead of automatic derivatives.
        """
        size = self._batch or self.batch_size(layers)
        for start in range(0, len(rows), size):
            piece = slice(start, min(start + size, len(rows)))
            inputs, stage = self.inputs.take(rows[piece]), "while looking how layers change with an input"
            if step is None:
                outputs, found = self._backend.slopes(inputs, column, layers, stage)
            else:
                outputs, found = self._differences(inputs, column, layers, step, stage)
            yield Chunk(piece, outputs, found)

    def _differences(
        self, inputs: Inputs, column: Column, layers: Sequence[str], step: float, stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        ahead, behind = (self._backend.read(inputs.moved(column, by), layers, stage) for by in (step, -step))

        def change(one: np.ndarray, other: np.ndarray) -> np.ndarray:
            return (one.astype(np.float64) - other) / (2 * step)

        return change(ahead[0], behind[0]), {name: change(ahead[1][name], behind[1][name]) for name in layers}

    def batch_size(self, layers: Sequence[str] = ()) -> int:
        """How many rows are run at a time if nobody says."""
        for name in set(layers) - set(self._sizes):
            _, found = self._backend.read(self.inputs.spread(_TRIED), (name,), TRYING)
            self._sizes[name] = found[name].nbytes / _TRIED
        row = self._row_size + sum(self._sizes[name] for name in layers)
        return int(np.clip(MEMORY // max(row, 1), 1, MOST_ROWS))

    def weights(self) -> dict[str, np.ndarray] | None:
        """Matrices of dense layers and kernels of convolutions from input to output, by layer, inputs first.

        `(units before, units after)` and `(height, width, channels before, channels after)`:
        `modularity_report(list(weights.values()))` takes them. A dense layer behind a convolution has its rows
        pixel by pixel, channels last, as expected there. `None` where the model is no plain chain of such
        layers; a note then says why.
        """
        found = self._backend.weights()
        if not isinstance(found, str):
            return found
        note = f"no chain of weights: {found}"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def steady(self) -> AbstractContextManager[None]:
        """Within it, `function` is as it is evaluated (a PyTorch module is in eval mode); restored afterwards."""
        return self._backend.steady()

    def _tell_unsteady(self, outputs: np.ndarray) -> None:
        """Notes if a row's outputs are drawn at random, or depend on the rows that are run with it."""
        again, _ = self._backend.read(self.inputs.spread(_TRIED), (), TRYING)
        if not _alike(outputs, again):
            self.notes.append("the model is random: the same rows give other outputs each time")
            return
        alone, _ = self._backend.read(self.inputs.take(np.zeros(_TRIED, dtype=int)), (), TRYING)
        if not _alike(outputs[:1], alone[:1]):
            self.notes.append("outputs of a row depend on the rows that are run with it, so on the batch")

    def _check_known(self, name: str) -> None:
        if name not in self._backend.known:
            raise unknown("layers", name, self.layers or self._backend.known, otherwise=_NO_LAYERS)

    def _chunks(self, layers: tuple[str, ...], size: int) -> Iterator[Chunk]:
        for start in range(0, self.rows, size):
            rows = slice(start, min(start + size, self.rows))
            count = rows.stop - start
            whole = self._backend.fixed and count < size
            index = np.minimum(np.arange(start, start + size), self.rows - 1) if whole else rows
            stage = f"while running rows {start} to {rows.stop - 1}"
            outputs, activities = self._backend.read(self.inputs.take(index), layers, stage)
            if whole:
                outputs, activities = outputs[:count], {name: a[:count] for name, a in activities.items()}
            yield Chunk(rows, outputs, activities)


_NO_LAYERS = "a mapping from names to functions of the inputs: of this model only the outputs can be read"


def chosen_layers(
    layers: Sequence[str] | None, default: tuple[str, ...], known: Sequence[str]
) -> tuple[str, ...]:
    """The layers that were asked for, in the order of execution."""
    if layers is None:
        return default
    asked = [layers] if isinstance(layers, str) else [str(name) for name in layers]
    for name in asked:
        if name not in known:
            raise unknown("layers", name, default or tuple(known), otherwise=_NO_LAYERS)
    return tuple(name for name in known if name in asked)


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    finite = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    return bool(np.allclose(one, other, rtol=1e-3, atol=1e-4 * finite, equal_nan=True))


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether derivatives agree but for kinks and rounding."""
    return bool(np.linalg.norm(one - other) <= 0.2 * np.linalg.norm(other) + 1e-6)


def _checked_batch(batch: int | None) -> int | None:
    whole = isinstance(batch, int | np.integer) and not isinstance(batch, bool)
    if batch is not None and (not whole or batch < 1):
        raise InputError("batch", batch, "a positive number of rows")
    return batch
