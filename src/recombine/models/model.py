"""One adapter for any model: rows in, outputs and activities of layers out, a bounded piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError
from recombine.models.model_errors import ModelError, NoDerivativeError, unknown_name
from recombine.models.model_inputs import InputColumn, Inputs

Framework: TypeAlias = Literal["torch", "jax", "sklearn", "callable"]
Layers: TypeAlias = Sequence[str] | Mapping[str, Callable[..., Any]] | None
"""Names of layers, or functions of the inputs by name; `None` for all layers."""
Activities: TypeAlias = dict[str, np.ndarray]

MEMORY = 128 * 2**20
"""Bytes that inputs, outputs and activities of one piece may take."""
MAX_ROWS = 4096
"""Rows of one piece: more do not run faster."""

_TRIED = 3
"""Rows on which a model is tried first: two could be mistaken for a shape by chance."""
_COMPARED = 16
"""Rows on which automatic derivatives are compared with differences."""
_SAME_SLOPES = 0.2
"""Relative error of differences, from kinks and rounding, that does not count against automatic derivatives."""

TRYING = "while trying a few rows"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive rows: outputs `(n, ...)`, and the activity `(n, ...)` of each layer that was asked for."""

    rows: slice
    outputs: np.ndarray
    activities: Activities


class Backend(Protocol):
    """What a framework has to provide; `Model` does the rest."""

    framework: Framework
    name: str
    function: Callable[..., Any]
    by_rows: bool
    """Whether `function` takes rows together, rather than one row at a time."""
    takes_tensors: bool
    """Whether `function` takes PyTorch tensors."""
    layers: tuple[str, ...]
    """Those that are read unless others are asked for."""
    known: tuple[str, ...]
    """All that can be read."""
    classes: tuple[Any, ...] | None
    notes: list[str]
    fixed: bool
    """Whether all pieces should have one size, because each size is compiled separately."""

    def read(self, inputs: Inputs, layers: Sequence[str], stage: str) -> tuple[np.ndarray, Activities]:
        """Outputs and activities of some rows; errors of the user's code say `stage`."""
        ...

    def slopes(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, Activities]:
        """Derivatives of outputs and activities along one column of the inputs.

        Raises `NoDerivativeError` if there are none.
        """
        ...

    def eval_mode(self) -> AbstractContextManager[None]:
        """The model as it is evaluated: no dropout, no batch statistics; restored afterwards."""
        ...

    def weights(self) -> dict[str, np.ndarray] | str:
        """Matrices from input to output, or why there are none."""
        ...


class Model:
    """A model and its inputs, whatever they are written in; made by [`recombine.models.as_model`][].

    **Attributes:**

    - `framework`: `"torch"`, `"jax"`, `"sklearn"` or `"callable"`; `name`: a word for the model.
    - `inputs`: its inputs; `rows`: how many rows they have.
    - `layers`: layers that can be read, in the order of execution.
    - `shapes`: the shape of one row of every layer's activity; `output_shape`: that of one output.
    - `classes`: of a scikit-learn classifier, in the order of its output columns.
    - `function`: the model as a callable, to be called within `eval_mode()`; `by_rows`: whether it takes rows together;
        `takes_tensors`: whether it takes PyTorch tensors. [`recombine.models.as_function`][] differentiates it.
    - `notes`: what a user should know.
    """

    def __init__(self, backend: Backend, inputs: Inputs, batch: int | None) -> None:
        self._backend, self.inputs, self._batch = backend, inputs, _checked_batch(batch)
        self.framework, self.name, self.rows = backend.framework, backend.name, inputs.rows
        self.layers, self.classes, self.notes = backend.layers, backend.classes, backend.notes
        self.function, self.by_rows = backend.function, backend.by_rows
        self.takes_tensors = backend.takes_tensors
        tried = inputs.spread(_TRIED)
        outputs, activities = backend.read(tried, self.layers, TRYING)
        self.output_shape = outputs.shape[1:]
        self.shapes = {name: activity.shape[1:] for name, activity in activities.items()}
        self._sizes = {name: activity.nbytes / _TRIED for name, activity in activities.items()}
        self._row_size = tried.row_bytes + outputs.nbytes / _TRIED
        self._note_randomness(outputs)

    def __repr__(self) -> str:
        return f"Model({self.name}, {self.framework}, {self.rows} rows, {len(self.layers)} layers)"

    def run(self, layers: Sequence[str] = (), *, batch: int | None = None) -> Iterator[Chunk]:
        """Outputs, and the activities of `layers`, for all rows in order, a piece of bounded size at a time.

        **Arguments:**

        - `layers`: some of `self.layers`.
        - `batch`: rows at a time; by default as many as fit into 128 MB together with their activities, at most 4096.

        ```python
        >>> import numpy as np
        >>> from recombine.models import as_model
        >>> model = as_model(lambda x: x.sum(axis=1), np.ones((5, 2)))
        >>> [chunk.outputs.tolist() for chunk in model.run(batch=3)]
        [[2.0, 2.0, 2.0], [2.0, 2.0]]

        ```
        """
        chosen = tuple(dict.fromkeys([layers] if isinstance(layers, str) else layers))
        for name in chosen:
            self._check_known(name)
        size = _checked_batch(batch) or self._batch or self.batch_size(chosen)
        return self._chunks(chosen, min(size, self.rows))

    def differentiable(self, column: InputColumn, layers: Sequence[str], step: float) -> bool:
        """Whether automatic derivatives along a column exist, and agree with differences on some rows.

        (A model that computes something without gradients has derivatives of zero.)
        """
        tried = self.inputs.spread(_COMPARED)
        try:
            _, exact = self._backend.slopes(tried, column, layers, TRYING)
        except (NoDerivativeError, ModelError):
            return False
        _, by_steps = self._differences(tried, column, layers, step, TRYING)
        return all(_same_slopes(exact[name], by_steps[name]) for name in layers)

    def slopes(
        self,
        column: InputColumn,
        layers: Sequence[str],
        rows: Int[np.ndarray, " sample"],
        *,
        step: float | None,
    ) -> Iterator[Chunk]:
        """How outputs and layers of some rows change with one column of the inputs, per unit of it.

        **Arguments:**

        - `rows`: which rows; `Chunk.rows` counts among them.
        - `step`: take central differences this wide on each side, instead of automatic derivatives.

        ```python
        >>> import numpy as np
        >>> from recombine.models import as_model
        >>> from recombine.models.model_inputs import InputColumn
        >>> model = as_model(lambda x: x[:, 0] ** 2, np.array([[1.0], [3.0]]))
        >>> [chunk.outputs.round(6).tolist() for chunk in model.slopes(InputColumn(0, 0), (), np.arange(2), step=1e-3)]
        [[2.0, 6.0]]

        ```
        """
        size = self._batch or self.batch_size(layers)
        for start in range(0, len(rows), size):
            piece = slice(start, min(start + size, len(rows)))
            inputs, stage = self.inputs.take(rows[piece]), "while differentiating layers along an input"
            if step is None:
                outputs, slopes = self._backend.slopes(inputs, column, layers, stage)
            else:
                outputs, slopes = self._differences(inputs, column, layers, step, stage)
            yield Chunk(piece, outputs, slopes)

    def _differences(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], step: float, stage: str
    ) -> tuple[np.ndarray, Activities]:
        ahead, behind = (self._backend.read(inputs.moved(column, by), layers, stage) for by in (step, -step))

        def change(one: np.ndarray, other: np.ndarray) -> np.ndarray:
            return (one.astype(np.float64) - other) / (2 * step)

        return change(ahead[0], behind[0]), {name: change(ahead[1][name], behind[1][name]) for name in layers}

    def batch_size(self, layers: Sequence[str] = ()) -> int:
        """How many rows are run at a time by default."""
        for name in set(layers) - set(self._sizes):
            _, activities = self._backend.read(self.inputs.spread(_TRIED), (name,), TRYING)
            self._sizes[name] = activities[name].nbytes / _TRIED
        row = self._row_size + sum(self._sizes[name] for name in layers)
        return int(np.clip(MEMORY // max(row, 1), 1, MAX_ROWS))

    def weights(self) -> dict[str, np.ndarray] | None:
        """Matrices of dense layers and kernels of convolutions from input to output, by layer, **inputs first**.

        `(units before, units after)` and `(height, width, channels before, channels after)`, whatever the framework
        stores, so `modularity_report(list(weights.values()))` takes them as they are. A dense layer behind a
        convolution has its rows pixel by pixel, channels last, as expected there. `None` where the model is not a plain
        chain of such layers; a note then says why.

        ```python
        >>> import numpy as np
        >>> from sklearn.neural_network import MLPRegressor
        >>> from recombine.models import as_model
        >>> x = np.linspace(-1, 1, 40).reshape(20, 2)
        >>> net = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", random_state=0).fit(x, x.sum(axis=1))
        >>> {name: matrix.shape for name, matrix in as_model(net, x).weights().items()}
        {'hidden0': (2, 8), 'output': (8, 1)}

        ```
        """
        weights = self._backend.weights()
        reason = weights if isinstance(weights, str) else _broken_chain(weights)
        if not reason and not isinstance(weights, str):
            return weights
        note = f"no chain of weights: {reason}"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def eval_mode(self) -> AbstractContextManager[None]:
        """Inside, `function` computes what is evaluated (a PyTorch module is in eval mode); restored afterwards."""
        return self._backend.eval_mode()

    def _note_randomness(self, outputs: np.ndarray) -> None:
        """Notes if a row's outputs are random, or depend on the rows that are run with it."""
        again, _ = self._backend.read(self.inputs.spread(_TRIED), (), TRYING)
        if not _same_outputs(outputs, again):
            self.notes.append("the model is random: the same rows give different outputs each time")
            return
        alone, _ = self._backend.read(self.inputs.take(np.zeros(_TRIED, dtype=int)), (), TRYING)
        if not _same_outputs(outputs[:1], alone[:1]):
            self.notes.append("outputs of a row depend on the other rows in its batch")

    def _check_known(self, name: str) -> None:
        if name not in self._backend.known:
            raise unknown_name("layers", name, self.layers or self._backend.known, otherwise=_NO_LAYERS)

    def _chunks(self, layers: tuple[str, ...], size: int) -> Iterator[Chunk]:
        for start in range(0, self.rows, size):
            rows = slice(start, min(start + size, self.rows))
            count = rows.stop - start
            padded = self._backend.fixed and count < size
            index = np.minimum(np.arange(start, start + size), self.rows - 1) if padded else rows
            stage = f"while running rows {start} to {rows.stop - 1}"
            outputs, activities = self._backend.read(self.inputs.take(index), layers, stage)
            if padded:
                outputs, activities = outputs[:count], {name: a[:count] for name, a in activities.items()}
            yield Chunk(rows, outputs, activities)


_NO_LAYERS = "a mapping from names to functions of the inputs: only the outputs of this model can be read"


def chosen_layers(
    layers: Sequence[str] | None, default: tuple[str, ...], known: Sequence[str]
) -> tuple[str, ...]:
    """The layers that were asked for, in the order of execution."""
    if layers is None:
        return default
    names = [layers] if isinstance(layers, str) else [str(name) for name in layers]
    for name in names:
        if name not in known:
            raise unknown_name("layers", name, default or tuple(known), otherwise=_NO_LAYERS)
    return tuple(name for name in known if name in names)


def _broken_chain(weights: Mapping[str, np.ndarray]) -> str:
    """Why matrices and kernels, inputs first, do not follow each other; empty if they do."""
    before, units, kernel = "", 0, False
    for name, array in weights.items():
        if not np.isfinite(array).all():
            return f"{int((~np.isfinite(array)).sum())} weights of {name!r} are not finite"
        inputs = array.shape[-2]
        per_pixel = kernel and array.ndim == 2 and inputs % units == 0  # a dense layer that reads every pixel
        if before and inputs != units and not per_pixel:
            return f"{name!r} reads {inputs} units, but {before!r} before it has {units}"
        before, units, kernel = name, array.shape[-1], array.ndim == 4
    return ""


def _same_outputs(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    finite = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    return bool(np.allclose(one, other, rtol=1e-3, atol=1e-4 * finite, equal_nan=True))


def _same_slopes(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether derivatives agree, up to kinks and rounding."""
    return bool(np.linalg.norm(one - other) <= _SAME_SLOPES * np.linalg.norm(other) + 1e-6)


def _checked_batch(batch: int | None) -> int | None:
    whole = isinstance(batch, int | np.integer) and not isinstance(batch, bool)
    if batch is not None and (not whole or batch < 1):
        raise InputError("batch", batch, "a positive number of rows")
    return batch
