"""The activities of a module's layers: `recombine.nets.trace` for PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.eager import Attached, uncompiled
from recombine.models.torch.hooks import call_hooks, hooked, known_layers, original, run
from recombine.models.torch.tensors import first_tensor


def trace(module: nn.Module, x: Any, layers: Sequence[str] | None = None) -> tuple[Any, dict[str, Tensor]]:
    """Runs a module and keeps the outputs of its layers; gradients flow through both.

    The module is run as it is, in training or evaluation mode, and is left as it was: hooks are removed even if it
    raises, and running statistics do not move. A compiled module runs uncompiled.

    **Arguments:**

    - `x`: the input, a tuple of inputs, or a dictionary of named ones.
    - `layers`: names of submodules, as in `module.named_modules()`; by default every module that calls no other. A
        layer that is called again has a name for every call: `act`, `act#2`, ...

    **Returns:**

    The module's output, and a dictionary from name to activity in order of execution; of a layer that returns several
    tensors (`torch.nn.MultiheadAttention`) the first.

    ```python
    >>> import torch
    >>> from recombine.torch import trace
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> output, activities = trace(net, torch.ones(5, 3))
    >>> {name: tuple(activity.shape) for name, activity in activities.items()}
    {'0': (5, 8), '1': (5, 8), '2': (5, 2)}

    ```
    """
    return uncompiled(_trace, module, x, layers)


def _trace(module: nn.Module, x: Any, layers: Sequence[str] | None) -> tuple[Any, dict[str, Tensor]]:
    module = original(module)
    chosen = None if layers is None else known_layers(module, layers)
    recorder = _Recorder(module, chosen)
    with Attached(recorder.attach):
        output = run(module, x)
    for name in chosen or ():
        if name not in recorder.activities:
            called = ", ".join(repr(one) for one in recorder.calls if one and "#" not in one)
            raise InputError("layers", name, f"layers that are called and return a tensor, of: {called}")
    return output, recorder.activities


class _Recorder:
    """Collects outputs; a module during whose call no other was called is a leaf."""

    def __init__(self, module: nn.Module, chosen: list[str] | None) -> None:
        self.module, self.chosen = module, chosen
        self.activities: dict[str, Tensor] = {}
        self.calls: list[str] = []
        self._open: list[tuple[nn.Module, int]] = []

    def attach(self, stack: ExitStack) -> None:
        parts = dict(self.module.named_modules())
        for part in parts.values():
            stack.callback(part.register_forward_pre_hook(self._before).remove)
        stack.enter_context(hooked(call_hooks(parts, self._after)))

    def _before(self, part: nn.Module, args: Any) -> None:
        self._open.append((part, len(self.calls)))

    def _after(self, label: str, part: nn.Module, output: Any) -> Any:
        called, before = self._open.pop()
        while called is not part:  # a call that raised, and whose error was caught
            called, before = self._open.pop()
        is_leaf = len(self.calls) == before
        self.calls.append(label)
        names = {label, label.partition("#")[0]}
        keep = is_leaf if self.chosen is None else bool(names & set(self.chosen))
        activity = first_tensor(output)
        if not keep or activity is None:
            return None
        self.activities[label] = activity
        return output.clone() if output is activity else None  # others may overwrite the clone
