"""Any function of arrays: outputs alone, and layers where functions for them are given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from recombine.auditing.models.calling import RowFunction
from recombine.auditing.models.failing import ModelError, NoDerivativeError
from recombine.auditing.models.inputs import Column, Inputs
from recombine.auditing.models.model import Framework, chosen_layers
from recombine.errors import InputError


class CallableBackend:
    """A function of the arrays as they were given (or as `convert` makes them), called without gradients."""

    framework: Framework
    fixed = False
    classes: tuple[Any, ...] | None = None

    def __init__(
        self,
        model: Callable[..., Any],
        inputs: Inputs,
        layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None,
        output: str | int | None,
        *,
        framework: Framework = "callable",
        convert: Callable[[Any], Any] | None = None,
    ) -> None:
        self.framework, self.function, self.name = framework, model, callable_name(model)
        self._convert = convert or (lambda part: part)
        tried = inputs.spread(3).convert(self._convert)
        with without_gradients():
            self._rows = RowFunction(model, tried, output)
            readers = layers if isinstance(layers, Mapping) else {}
            self._readers = {name: RowFunction(reader, tried) for name, reader in readers.items()}
        self.known = tuple(self._readers)
        self.layers = chosen_layers(None if isinstance(layers, Mapping) else layers, self.known, self.known)
        self.notes = [self._rows.note] if self._rows.note else []
        if not self._rows.by_rows:
            self.notes.append("the model takes one row at a time")

    def read(
        self, inputs: Inputs, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Outputs and layers of some rows."""
        converted = inputs.convert(self._convert)
        with without_gradients():
            outputs = self._rows(converted, stage)
            return outputs, {name: self._readers[name](converted, stage) for name in layers}

    def slopes(
        self, inputs: Inputs, column: Column, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """None that are automatic."""
        raise NoDerivativeError

    def steady(self) -> AbstractContextManager[None]:
        """Nothing is known that could be unsteady."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """A function keeps its weights to itself."""
        return f"{self.name} is a function, whose weights cannot be seen"


def function_backend(
    model: Callable[..., Any],
    inputs: Inputs,
    layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None,
    output: str | int | None,
) -> CallableBackend:
    """The view of a plain function; where PyTorch is loaded, one that fails on NumPy arrays is tried on tensors."""
    try:
        return CallableBackend(model, inputs, layers, output)
    except ModelError as error:
        failed = error
    torch = sys.modules.get("torch")
    if torch is not None and all(isinstance(part, np.ndarray) for part in inputs.parts):
        try:
            found = CallableBackend(model, inputs, layers, output, convert=_tensors(torch))
        except (InputError, ModelError):
            raise failed from failed.__cause__
        found.notes.append(
            "the model is a function of PyTorch tensors: whether its modules are in eval mode cannot be seen"
        )
        return found
    raise failed


def _tensors(torch: Any) -> Callable[[Any], Any]:
    def convert(part: Any) -> Any:
        if part.dtype.kind not in "fiubc":
            raise InputError("inputs", f"values of type {part.dtype.name}", "numbers")
        tensor = torch.tensor(np.ascontiguousarray(part))
        return tensor.to(torch.get_default_dtype()) if tensor.is_floating_point() else tensor

    return convert


def callable_name(model: Any) -> str:
    """A word for a callable.

    ```python
    >>> from recombine.auditing.models.callable_model import callable_name
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
