"""PyTorch modules: outputs, and activity through forward hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from recombine.auditing.models.calling import RowFunction
from recombine.auditing.models.failing import ModelError, NoDerivativeError, user_code
from recombine.auditing.models.inputs import Column, Inputs
from recombine.auditing.models.model import TRYING, Framework, chosen_layers
from recombine.auditing.models.outputs import Place, at, choose, first_array, rows_error, to_numpy
from recombine.auditing.models.torch_modes import hooked, steady, unsteady
from recombine.auditing.models.torch_slopes import slopes_of
from recombine.errors import InputError

_TRIALS = (2, 3, 7)


@dataclass(eq=False)
class Call:
    """A call of a module: its name (`fc`, `fc#2`), and on which axis of its output the rows are, if on any."""

    name: str
    module: Any
    axis: int | None = None
    inside: set[str] = field(default_factory=set)
    """Modules that it called."""


class TorchBackend:
    """A module, or a method of one, run in eval mode and without gradients; every flag and hook is put back."""

    framework: Framework = "torch"
    classes: tuple[Any, ...] | None = None
    fixed = False

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None,
        output: str | int | None,
    ) -> None:
        if type(model).__name__ == "OptimizedModule":
            model = model._orig_mod
        self._call = model
        self.module = model if isinstance(model, torch.nn.Module) else model.__self__
        self.name, self.notes = type(self.module).__name__, []
        own = [p for p in self.module.parameters() if p.is_floating_point()] or [
            b for b in self.module.buffers() if b.is_floating_point()
        ]
        self._dtype = own[0].dtype if own else torch.get_default_dtype()
        self._device = own[0].device if own else torch.device("cpu")
        self._whole_as_floats = False
        readers = layers if isinstance(layers, Mapping) else {}
        self._owners = [self.module, *filter(None, (_owner(reader) for reader in readers.values()))]
        self._tell_modes()
        self._names = {
            name: part for name, part in self.module.named_modules() if name and not _scripted(part)
        }
        if any(_scripted(part) for part in self.module.modules()):
            self.notes.append("layers that TorchScript has compiled cannot be read")
        self._trials = {rows: inputs.spread(rows) for rows in _TRIALS}
        results, self.calls = self._try()
        self._place, note = choose(results, output)
        self.notes += [note] if note else []
        self.function = _as_function(model, self._place)
        with torch.no_grad(), self.steady():
            tried = self._trials[3].convert(self._tensor)
            self._readers = {name: RowFunction(reader, tried) for name, reader in readers.items()}
        self._axes: dict[str, int] = {call.name: call.axis for call in self.calls if call.axis is not None}
        self.known = tuple(self._readers) if readers else tuple(self._axes)
        if layers is None:
            self._tell_left_out()
        self.layers = (
            self.known if readers else chosen_layers(_names(layers), self._leaves(), tuple(self._axes))
        )

    def read(
        self, inputs: Inputs, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Outputs and activity of some rows."""
        converted = inputs.convert(self._tensor)
        with torch.no_grad(), self.steady():
            outputs, caught = self._called(converted, layers, stage, to_numpy)
            found = {name: self._readers[name](converted, stage) for name in layers if name in self._readers}
        found = self._by_rows(outputs, caught, inputs.rows) | found
        return outputs, {name: found[name] for name in layers}

    def slopes(
        self, inputs: Inputs, column: Column, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Through the same hooks."""
        converted = inputs.convert(self._tensor)
        own = converted.parts[column.part]
        if any(name in self._readers for name in layers) or not own.is_floating_point():
            raise NoDerivativeError
        along = torch.as_tensor(inputs.direction(column)).to(own)

        def everything(part: Any) -> list[Any]:
            moved = replace(converted, parts=converted.with_part(column, part))
            outputs, caught = self._called(moved, layers, stage, torch.clone)
            return [outputs, *(caught[name] for name in layers)]

        with self.steady():
            outputs, *found = map(to_numpy, slopes_of(everything, own, along))
        return outputs, self._by_rows(outputs, dict(zip(layers, found, strict=True)), inputs.rows)

    def _called(
        self, inputs: Inputs, layers: Sequence[str], stage: str, take: Callable[[Any], Any]
    ) -> tuple[Any, dict[str, Any]]:
        """What is taken from outputs and from layers in one call of the module."""
        caught: dict[str, Any] = {}
        counts: Counter[str] = Counter()

        def keep(name: str) -> Callable[..., None]:
            def hook(module: Any, given: Any, result: Any) -> None:
                counts[name] += 1
                call = _numbered(name, counts[name])
                if call in layers:
                    caught[call] = take(first_array(result))  # a copy: the next layer may work in place

            return hook

        own = [layer for layer in layers if layer not in self._readers]
        hooks = [(self._names[name], keep(name)) for name in dict.fromkeys(one.split("#")[0] for one in own)]
        with hooked(hooks), user_code(stage):
            outputs = take(at(inputs.feed(self._call), self._place))
        missing = [name for name in own if name not in caught]
        if missing:
            raise _skipped(missing[0])
        return outputs, caught

    def _by_rows(
        self, outputs: np.ndarray, caught: Mapping[str, np.ndarray], rows: int
    ) -> dict[str, np.ndarray]:
        """Activity with rows first; refused if outputs or layers have another number of them."""
        if not outputs.ndim or len(outputs) != rows:
            raise rows_error(outputs, rows)
        found = {}
        for name, activity in caught.items():
            axis = self._axes[name]
            if activity.ndim <= axis or activity.shape[axis] != rows:
                raise _skipped(name)
            found[name] = np.moveaxis(activity, axis, 0)
        return found

    def steady(self) -> AbstractContextManager[None]:
        """Eval mode within, and restored afterwards."""
        return steady(self._owners)

    def weights(self) -> dict[str, np.ndarray] | str:
        """Weights of dense layers and convolutions, if they form a chain."""
        from recombine.auditing.models.torch_weights import chain_weights

        return chain_weights(self)

    def outputs_with(self, *hooks: tuple[Any, Callable[..., Any]]) -> np.ndarray:
        """Outputs of a few rows, with hooks on modules."""
        tried = self._trials[max(_TRIALS)]
        with hooked(hooks):
            return self.read(tried, (), TRYING)[0]

    def _tensor(self, part: Any) -> Any:
        if isinstance(part, torch.Tensor):
            tensor = part.detach().to(self._device)
        else:
            array = np.asarray(part)
            if array.dtype.kind == "V" and "float" in array.dtype.name:
                array = array.astype(np.float32)
            if array.dtype.kind not in "fiubc":
                raise InputError("inputs", f"values of type {array.dtype.name}", "numbers")
            wide = array.dtype.kind == "u" and array.dtype.itemsize > 1
            kind = np.int64 if wide else array.dtype.newbyteorder("=")
            tensor = torch.tensor(np.ascontiguousarray(array, dtype=kind), device=self._device)
        if tensor.is_floating_point() or (self._whole_as_floats and not tensor.is_complex()):
            return tensor.to(self._dtype)
        return tensor

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
                found = self._tried()
            except ModelError:
                raise error from error.__cause__
            self.notes.append(f"inputs are whole numbers; the model got them as {_short(self._dtype)}")
            return found

    def _tried(self) -> tuple[dict[int, Any], list[Call]]:
        results, traces = {}, []
        for rows, trial in self._trials.items():
            results[rows], calls, shapes = self._traced(trial)
            traces.append((rows, calls, shapes))
        shared = []
        for name, call in traces[0][1].items():
            found = [(rows, shapes.get(name)) for rows, _, shapes in traces]
            call.axis = _row_axis(found)
            shared.append(call)
        return results, shared

    def _traced(self, inputs: Inputs) -> tuple[Any, dict[str, Call], dict[str, tuple[int, ...]]]:
        calls: dict[str, Call] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        counts: Counter[str] = Counter()

        def keep(name: str) -> Callable[..., None]:
            def hook(module: Any, given: Any, result: Any) -> None:
                counts[name] += 1
                call = _numbered(name, counts[name])
                inside = {other for other in calls if other.startswith(f"{name}.")}
                calls[call] = Call(call, module, inside=inside)
                array = first_array(result)
                if array is not None:
                    shapes[call] = tuple(array.shape)

            return hook

        converted = inputs.convert(self._tensor)
        hooks = [(module, keep(name)) for name, module in self._names.items()]
        with torch.no_grad(), self.steady(), hooked(hooks), user_code(TRYING):
            result = converted.feed(self._call)
        return result, calls, shapes

    def _leaves(self) -> tuple[str, ...]:
        """Calls with activity that hold no other such call."""
        readable = {call.name for call in self.calls if call.axis is not None}
        return tuple(
            call.name for call in self.calls if call.axis is not None and not (call.inside & readable)
        )

    def _tell_left_out(self) -> None:
        inner = {name for call in self.calls for name in call.inside}
        odd = [c.name for c in self.calls if c.axis is None and not c.inside and c.name not in inner]
        odd = [name for name in odd if ".parametrizations." not in f".{name}."]
        if odd:
            more = f" and {len(odd) - 4} more" if len(odd) > 4 else ""
            listed = ", ".join(odd[:4])
            self.notes.append(f"layers that do not give a row for every row are left out: {listed}{more}")

    def _tell_modes(self) -> None:
        odd = [part for owner in self._owners for part in owner.modules() if part.training and unsteady(part)]
        if odd:
            kinds = ", ".join(dict.fromkeys(type(part).__name__ for part in odd))
            self.notes.append(
                f"the model ({kinds}) was in training mode; evaluated in eval mode and restored"
            )


def _skipped(name: str) -> InputError:
    return InputError("layers", name, "a layer that every row goes through; choose others by layers=")


def _row_axis(found: Sequence[tuple[int, tuple[int, ...] | None]]) -> int | None:
    """The first axis whose length is the number of rows, whatever that is."""
    shapes = [shape for _, shape in found if shape is not None]
    if len(shapes) < len(found) or len({len(shape) for shape in shapes}) > 1:
        return None
    fitting = [a for a in range(len(shapes[0])) if all(shape[a] == rows for rows, shape in found if shape)]
    return fitting[0] if fitting else None


def _numbered(name: str, count: int) -> str:
    return name if count == 1 else f"{name}#{count}"


def _names(layers: Any) -> Sequence[str] | None:
    return layers if layers is None or isinstance(layers, str) else list(layers)


def _owner(function: Any) -> Any:
    owner = function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None


def _scripted(module: Any) -> bool:
    return isinstance(module, torch.jit.ScriptModule)


def _short(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class _Picked(torch.nn.Module):
    """A module that gives one of several outputs of another."""

    def __init__(self, call: Any, place: Place) -> None:
        super().__init__()
        self.module, self.call, self.place = _owner(call), call, place

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return at(self.call(*args, **kwargs), self.place)


def _as_function(model: Any, place: Place) -> Callable[..., Any]:
    return model if isinstance(model, torch.nn.Module) and not place else _Picked(model, place)
