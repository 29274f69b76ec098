"""The adapter of PyTorch modules: outputs, and activities through forward hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from recombine.errors import InputError
from recombine.models.model import TRYING, Activities, Framework, Layers, chosen_layers
from recombine.models.model_errors import ModelError, NoDerivativeError, user_code
from recombine.models.model_inputs import InputColumn, Inputs
from recombine.models.model_outputs import OutputPath, at, choose, first_array, rows_error, to_numpy
from recombine.models.row_function import RowFunction
from recombine.models.torch.derivatives import slopes_of
from recombine.models.torch.hooks import call_hooks, eval_mode, hooked, modules_of, original, training_note
from recombine.models.torch.tensors import precision_of, to_tensor

_TRIALS = (2, 3, 7)
"""Numbers of rows on which a module is tried: the axis of a layer's output that follows them is that of the rows."""


@dataclass(eq=False)
class Call:
    """A call of a module: its name (`fc`, `fc#2`), and on which axis of its output the rows are, if on any."""

    name: str
    module: Any
    axis: int | None = None
    inside: set[str] = field(default_factory=set)
    """Calls of its submodules."""


class TorchBackend:
    """A module, or a method of one, run in eval mode and without gradients; it is left as it was."""

    framework: Framework = "torch"
    classes: tuple[Any, ...] | None = None
    fixed = False
    by_rows = takes_tensors = True

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        layers: Layers,
        output: str | int | None,
    ) -> None:
        model = original(model) if isinstance(model, torch.nn.Module) else model
        self._call = model
        (self.module,) = modules_of(model)
        self.name, self.notes = type(self.module).__name__, []
        self._dtype, self._device = precision_of([self.module])
        self._whole_as_floats = False
        readers = layers if isinstance(layers, Mapping) else {}
        self._modules = [
            self.module,
            *(module for reader in readers.values() for module in modules_of(reader)),
        ]
        self.notes += training_note(self._modules)
        self._names = {
            name: part for name, part in self.module.named_modules() if name and not _scripted(part)
        }
        if any(_scripted(part) for part in self.module.modules()):
            self.notes.append("layers that TorchScript has compiled cannot be read")
        self._trials = {rows: inputs.spread(rows) for rows in _TRIALS}
        results, self.calls = self._try()
        self._path, note = choose(results, output)
        self.notes += [note] if note else []
        self.function = _as_function(model, self._path)
        with torch.no_grad(), self.eval_mode():
            tried = self._trials[3].convert(self._tensor)
            self._readers = {name: RowFunction(reader, tried) for name, reader in readers.items()}
        self._axes: dict[str, int] = {call.name: call.axis for call in self.calls if call.axis is not None}
        self.known = tuple(self._readers) if readers else tuple(self._axes)
        if layers is None:
            self._note_left_out()
        self.layers = (
            self.known if readers else chosen_layers(_names(layers), self._leaves(), tuple(self._axes))
        )

    def read(self, inputs: Inputs, layers: Sequence[str], stage: str) -> tuple[np.ndarray, Activities]:
        """Outputs and activity of some rows."""
        converted = inputs.convert(self._tensor)
        with torch.no_grad(), self.eval_mode():
            outputs, recorded = self._called(converted, layers, stage, to_numpy)
            own = {name: self._readers[name](converted, stage) for name in layers if name in self._readers}
        activities = self._rows_first(outputs, recorded, inputs.rows) | own
        return outputs, {name: activities[name] for name in layers}

    def slopes(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, Activities]:
        """Through the same hooks."""
        converted = inputs.convert(self._tensor)
        own = converted.parts[column.part]
        if any(name in self._readers for name in layers) or not own.is_floating_point():
            raise NoDerivativeError
        along = torch.as_tensor(inputs.direction(column)).to(own)

        def everything(part: Any) -> list[Any]:
            moved = replace(converted, parts=converted.with_part(column, part))
            outputs, recorded = self._called(moved, layers, stage, torch.clone)
            return [outputs, *(recorded[name] for name in layers)]

        with self.eval_mode():
            outputs, *slopes = map(to_numpy, slopes_of(everything, own, along))
        return outputs, self._rows_first(outputs, dict(zip(layers, slopes, strict=True)), inputs.rows)

    def _called(
        self, inputs: Inputs, layers: Sequence[str], stage: str, take: Callable[[Any], Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Outputs and layers of one call of the module, each as `take` copies it."""
        recorded: dict[str, Any] = {}

        def keep(name: str, module: Any, output: Any) -> None:
            if name in layers:
                recorded[name] = take(first_array(output))  # a copy: the next layer may work in place

        own = [layer for layer in layers if layer not in self._readers]
        modules = {name: self._names[name] for name in dict.fromkeys(one.split("#")[0] for one in own)}
        with hooked(call_hooks(modules, keep)), user_code(stage):
            outputs = take(at(inputs.feed(self._call), self._path))
        missing = [name for name in own if name not in recorded]
        if missing:
            raise _skipped(missing[0])
        return outputs, recorded

    def _rows_first(self, outputs: np.ndarray, recorded: Mapping[str, np.ndarray], rows: int) -> Activities:
        """Activities with rows first; refused if outputs or layers have another number of them."""
        if not outputs.ndim or len(outputs) != rows:
            raise rows_error(outputs, rows)
        activities = {}
        for name, activity in recorded.items():
            axis = self._axes[name]
            if activity.ndim <= axis or activity.shape[axis] != rows:
                raise _skipped(name)
            activities[name] = np.moveaxis(activity, axis, 0)
        return activities

    def eval_mode(self) -> AbstractContextManager[None]:
        """Eval mode inside, and restored afterwards."""
        return eval_mode(self._modules)

    def weights(self) -> dict[str, np.ndarray] | str:
        """Weights of dense layers and convolutions, if they form a chain."""
        from recombine.models.torch.weights import chain_weights

        return chain_weights(self)

    def outputs_with(self, *hooks: tuple[Any, Callable[..., Any]]) -> np.ndarray:
        """Outputs of a few rows, with hooks on modules."""
        tried = self._trials[max(_TRIALS)]
        with hooked(hooks):
            return self.read(tried, (), TRYING)[0]

    def _tensor(self, part: Any) -> Any:
        tensor = to_tensor(part, self._dtype, self._device)
        whole = not (tensor.is_floating_point() or tensor.is_complex())
        return tensor.to(self._dtype) if self._whole_as_floats and whole else tensor

    def _try(self) -> tuple[dict[int, Any], list[Call]]:
        """Results for a few rows, and the calls of modules that they share."""
        try:
            return self._tried()
        except ModelError as error:
            trial = self._trials[2].convert(self._tensor)
            if not any(not (part.is_floating_point() or part.is_complex()) for part in trial.parts):
                raise
            self._whole_as_floats = True
            try:
                results = self._tried()
            except ModelError:
                raise error from error.__cause__
            kind = str(self._dtype).removeprefix("torch.")
            self.notes.append(f"inputs are whole numbers; the model got them as {kind}")
            return results

    def _tried(self) -> tuple[dict[int, Any], list[Call]]:
        results, traces = {}, []
        for rows, trial in self._trials.items():
            results[rows], calls, shapes = self._traced(trial)
            traces.append((rows, calls, shapes))
        shared = list(traces[0][1].values())
        for call in shared:
            call.axis = _row_axis([(rows, shapes.get(call.name)) for rows, _, shapes in traces])
        return results, shared

    def _traced(self, inputs: Inputs) -> tuple[Any, dict[str, Call], dict[str, tuple[int, ...]]]:
        calls: dict[str, Call] = {}
        shapes: dict[str, tuple[int, ...]] = {}

        def keep(name: str, module: Any, output: Any) -> None:
            inside = {other for other in calls if other.startswith(f"{name.split('#')[0]}.")}
            calls[name] = Call(name, module, inside=inside)
            array = first_array(output)
            if array is not None:
                shapes[name] = tuple(array.shape)

        converted = inputs.convert(self._tensor)
        with torch.no_grad(), self.eval_mode(), hooked(call_hooks(self._names, keep)), user_code(TRYING):
            result = converted.feed(self._call)
        return result, calls, shapes

    def _leaves(self) -> tuple[str, ...]:
        """Calls whose activity can be read and that contain no other such call."""
        readable = {call.name for call in self.calls if call.axis is not None}
        return tuple(
            call.name for call in self.calls if call.axis is not None and not (call.inside & readable)
        )

    def _note_left_out(self) -> None:
        inner = {name for call in self.calls for name in call.inside}
        odd = [c.name for c in self.calls if c.axis is None and not c.inside and c.name not in inner]
        odd = [name for name in odd if ".parametrizations." not in f".{name}."]
        if odd:
            more = f" and {len(odd) - 4} more" if len(odd) > 4 else ""
            listed = ", ".join(odd[:4])
            self.notes.append(f"layers that do not give a row for every row are left out: {listed}{more}")


def _skipped(name: str) -> InputError:
    return InputError("layers", name, "a layer that every row goes through; choose others by layers=")


def _row_axis(trials: Sequence[tuple[int, tuple[int, ...] | None]]) -> int | None:
    """The first axis whose length is the number of rows, whatever that is."""
    shapes = [shape for _, shape in trials if shape is not None]
    if len(shapes) < len(trials) or len({len(shape) for shape in shapes}) > 1:
        return None
    fitting = [a for a in range(len(shapes[0])) if all(shape[a] == rows for rows, shape in trials if shape)]
    return fitting[0] if fitting else None


def _names(layers: Any) -> Sequence[str] | None:
    return layers if layers is None or isinstance(layers, str) else list(layers)


def _scripted(module: Any) -> bool:
    return isinstance(module, torch.jit.ScriptModule)


class _OneOutput(torch.nn.Module):
    """A module that returns one of several outputs of another."""

    def __init__(self, call: Any, path: OutputPath) -> None:
        super().__init__()
        (self.module,) = modules_of(call)
        self.call, self.path = call, path

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return at(self.call(*args, **kwargs), self.path)


def _as_function(model: Any, path: OutputPath) -> Callable[..., Any]:
    return model if isinstance(model, torch.nn.Module) and not path else _OneOutput(model, path)
