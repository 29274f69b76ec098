"""Any function of arrays: outputs alone, and layers where functions for them are given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from recombine.auditing.models.calling import RowFunction
from recombine.auditing.models.inputs import Inputs
from recombine.auditing.models.model import Framework, chosen_layers


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

    def steady(self) -> AbstractContextManager[None]:
        """Nothing is known that could be unsteady."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """A function keeps its weights to itself."""
        return f"{self.name} is a function, whose weights cannot be seen"


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
