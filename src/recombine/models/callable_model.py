"""Any function of arrays: outputs alone, and layers where the user provides functions for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.models.model import Activities, Framework, Layers, chosen_layers
from recombine.models.model_errors import ModelError, NoDerivativeError
from recombine.models.model_inputs import InputColumn, Inputs
from recombine.models.model_outputs import at
from recombine.models.row_function import RowFunction


class CallableBackend:
    """A function of the arrays as the user passed them (or as `convert` makes them), called without gradients."""

    framework: Framework
    fixed = False
    classes: tuple[Any, ...] | None = None

    def __init__(
        self,
        model: Callable[..., Any],
        inputs: Inputs,
        layers: Layers,
        output: str | int | None,
        *,
        framework: Framework = "callable",
        convert: Callable[[Any], Any] | None = None,
        takes_tensors: bool = False,
    ) -> None:
        self.framework, self.name, self.takes_tensors = framework, callable_name(model), takes_tensors
        self._convert = convert or (lambda part: part)
        tried = inputs.spread(3).convert(self._convert)
        with without_gradients():
            self._rows = RowFunction(model, tried, output)
            self.by_rows, path = self._rows.by_rows, self._rows.path
            self.function = model if not path else lambda *args, **named: at(model(*args, **named), path)
            readers = layers if isinstance(layers, Mapping) else {}
            self._readers = {name: RowFunction(reader, tried) for name, reader in readers.items()}
        self.known = tuple(self._readers)
        self.layers = chosen_layers(None if isinstance(layers, Mapping) else layers, self.known, self.known)
        self.notes = [self._rows.note] if self._rows.note else []
        if not self.by_rows:
            self.notes.append("the model takes one row at a time")

    def read(self, inputs: Inputs, layers: Sequence[str], stage: str) -> tuple[np.ndarray, Activities]:
        """Outputs and layers of some rows."""
        converted = inputs.convert(self._convert)
        with without_gradients():
            outputs = self._rows(converted, stage)
            return outputs, {name: self._readers[name](converted, stage) for name in layers}

    def slopes(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, Activities]:
        """A plain function has no automatic derivatives."""
        raise NoDerivativeError

    def eval_mode(self) -> AbstractContextManager[None]:
        """A plain function has no modes that could be seen."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """The weights of a function cannot be seen."""
        return f"{self.name} is a function, whose weights cannot be seen"


def function_backend(
    model: Callable[..., Any],
    inputs: Inputs,
    layers: Layers,
    output: str | int | None,
) -> CallableBackend:
    """The adapter of a plain function; one that fails on NumPy arrays is tried on tensors if PyTorch is loaded."""
    try:
        return CallableBackend(model, inputs, layers, output)
    except ModelError as error:
        failed = error
    torch = sys.modules.get("torch")
    if torch is None or not all(isinstance(part, np.ndarray) for part in inputs.parts):
        raise failed
    from recombine.models.torch.tensors import to_tensor

    try:
        backend = CallableBackend(
            model,
            inputs,
            layers,
            output,
            convert=lambda part: to_tensor(part, torch.get_default_dtype()),
            takes_tensors=True,
        )
    except (InputError, ModelError):
        raise failed from failed.__cause__
    backend.notes.append(
        "the model is a function of PyTorch tensors: whether its modules are in eval mode cannot be seen"
    )
    return backend


def callable_name(model: Any) -> str:
    """A word for a callable.

    ```python
    >>> from recombine.models.callable_model import callable_name
    >>> import functools
    >>> callable_name(functools.partial(sorted, reverse=True)), callable_name(lambda x: x)
    ('sorted', 'function')

    ```
    """
    for attribute in ("func", "__wrapped__"):  # what partial functions and wrappers hold
        inner = getattr(model, attribute, None)
        if callable(inner):
            return callable_name(inner)
    name = getattr(model, "__name__", None) or type(model).__name__
    return "function" if name == "<lambda>" else str(name)


def without_gradients() -> AbstractContextManager[Any]:
    """PyTorch keeps no graph inside, if it is loaded at all."""
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.no_grad()
