"""What the layers of a module say: `recombine.nets.trace` for PyTorch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.torch.hooks import Attached, first_tensor, known_layers, original, run, uncompiled


def trace(module: nn.Module, x: Any, layers: Sequence[str] | None = None) -> tuple[Any, dict[str, Tensor]]:
    """Runs a module and keeps what its layers give; gradients flow through both.

    The module is run as it is, in training or evaluation mode, and is left as it was: hooks are removed even if it
    raises, and running statistics do not move. A compiled module runs uncompiled.

    **Arguments:**

    - `x`: the input, a tuple of inputs, or a dictionary of named ones.
    - `layers`: names of submodules, as `module.named_modules()` has them; by default every module that calls no
        other. A layer that is called again has a name for every call: `act`, `act#2`, ...

    **Returns:**

    The module's output, and a dictionary from name to activity in order of execution; of a layer that gives several
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
        if name not in recorder.found:
            called = ", ".join(repr(one) for one in recorder.calls if one)
            raise InputError("layers", name, f"layers that are called and give a tensor, of: {called}")
    return output, recorder.found


class _Recorder:
    """Collects outputs; a module during whose call no other was called is a leaf."""

    def __init__(self, module: nn.Module, chosen: list[str] | None) -> None:
        self.module, self.chosen, self.found, self.calls = module, chosen, dict[str, Tensor](), Counter[str]()
        self.open: list[tuple[nn.Module, int]] = []

    def attach(self, stack: ExitStack) -> None:
        for name, part in self.module.named_modules():
            stack.callback(part.register_forward_pre_hook(self.before).remove)
            stack.callback(part.register_forward_hook(self.after(name)).remove)

    def before(self, part: nn.Module, args: Any) -> None:
        self.open.append((part, self.calls.total()))

    def after(self, name: str) -> Any:
        def keep(part: nn.Module, args: Any, output: Any) -> Any:
            called, before = self.open.pop()
            while called is not part:  # a call that raised, and was caught
                called, before = self.open.pop()
            is_leaf = self.calls.total() == before
            self.calls[name] += 1
            label = name if self.calls[name] == 1 else f"{name}#{self.calls[name]}"
            wanted = is_leaf if self.chosen is None else name in self.chosen or label in self.chosen
            activity = first_tensor(output)
            if not wanted or activity is None:
                return None
            self.found[label] = activity
            return output.clone() if output is activity else None  # which others may overwrite

        return keep
