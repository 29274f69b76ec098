"""Running somebody else's module with hooks or in eval mode, and leaving it as it was."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from recombine.errors import InputError

Keep = Callable[[str, nn.Module, Any], Any]
"""Called with a call's name (`act`, `act#2`), the module and its output; what it returns replaces the output."""


@contextmanager
def reachable() -> Iterator[None]:
    """Every submodule is called, so that its hooks run.

    Two shortcuts of PyTorch bypass hooks: a compiled program keeps the hooks of the time when it was compiled, and
    attention in eval mode has a fused path that calls no submodule. Both are off inside.
    """
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        # Nothing is compiled unless Dynamo is loaded, and loading it takes two seconds.
        if "torch._dynamo" in sys.modules:
            with torch.compiler.set_stance("force_eager"):
                yield
        else:
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


@contextmanager
def eval_mode(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Puts modules and everything they contain in eval mode; every flag is restored, also after an error.

    Inside, all submodules are `reachable`.
    """
    parts = {id(part): part for module in modules for part in module.modules()}.values()
    flags = [(part, part.training) for part in parts]
    try:
        for part, _ in flags:
            part.training = False
        with reachable():
            yield
    finally:
        for part, flag in flags:
            part.training = flag


@contextmanager
def hooked(hooks: Sequence[tuple[nn.Module, Callable[..., Any]]]) -> Iterator[None]:
    """Forward hooks on modules, removed afterwards."""
    handles: list[Any] = []
    try:
        for module, hook in hooks:
            handles.append(module.register_forward_hook(hook))
        yield
    finally:
        for handle in handles:
            handle.remove()


def call_hooks(modules: Mapping[str, nn.Module], keep: Keep) -> list[tuple[nn.Module, Callable[..., Any]]]:
    """Forward hooks that name every call: `act` for the first call of a module, `act#2` for the second, and so on.

    ```python
    >>> import torch
    >>> from recombine.models.torch.hooks import call_hooks, hooked
    >>> act, calls = torch.nn.Tanh(), []
    >>> with hooked(call_hooks({"act": act}, lambda name, module, output: calls.append(name))):
    ...     output = act(act(torch.ones(1)))
    >>> calls
    ['act', 'act#2']

    ```
    """
    counts: Counter[str] = Counter()

    def hook_of(name: str) -> Callable[..., Any]:
        def hook(module: nn.Module, inputs: Any, output: Any) -> Any:
            counts[name] += 1
            return keep(name if counts[name] == 1 else f"{name}#{counts[name]}", module, output)

        return hook

    return [(module, hook_of(name)) for name, module in modules.items()]


def original(module: nn.Module) -> nn.Module:
    """The module that `torch.compile` was given; any other as it is."""
    if not isinstance(module, nn.Module):
        raise InputError("module", type(module).__name__, "a torch.nn.Module")
    inner = getattr(module, "_orig_mod", module)
    return inner if isinstance(inner, nn.Module) else module


def modules_of(function: Any) -> list[nn.Module]:
    """The module that a callable is, or whose method it is, in a list; empty for a plain function."""
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    return [owner] if isinstance(owner, nn.Module) else []


def run(module: nn.Module, x: Any) -> Any:
    """The module's output; buffers, such as the running statistics of batch normalisation, stay as they are.

    `x` is the input, a tuple of inputs, or a dictionary of named ones.
    """
    named = dict(x) if isinstance(x, Mapping) else {}
    args = () if named else x if isinstance(x, tuple) else (x,)
    copies = {name: buffer.clone() for name, buffer in module.named_buffers()}
    return torch.func.functional_call(module, copies, args, named)


def known_layers(module: nn.Module, layers: Any) -> list[str]:
    """The names in `layers`, if the module has all of them; `name#2` is the second call of `name`."""
    if isinstance(layers, str):
        raise InputError("layers", layers, "a list of names")
    names, chosen = [name for name, _ in module.named_modules()], list(layers)
    for name in chosen:
        if name not in names and name.partition("#")[0] not in names:
            listed = ", ".join(repr(one) for one in names if one)
            raise InputError("layers", name, f"names of submodules: {listed or 'there are none'}")
    return chosen


def differs_in_training(module: nn.Module) -> bool:
    """Whether a module computes something else in training: dropout, batch statistics and the like.

    ```python
    >>> import torch
    >>> from recombine.models.torch.hooks import differs_in_training
    >>> differs_in_training(torch.nn.LSTM(2, 2, num_layers=2, dropout=0.1))
    True
    >>> differs_in_training(torch.nn.Linear(2, 2))
    False

    ```
    """
    kind = type(module).__name__
    if "Dropout" in kind or "DropPath" in kind:
        return bool(getattr(module, "p", 1))
    if "BatchNorm" in kind or kind == "RReLU":
        return True
    if "InstanceNorm" in kind:
        return bool(getattr(module, "track_running_stats", False))
    rate = getattr(module, "dropout", 0)
    return isinstance(rate, float | int) and rate > 0


def training_note(modules: Sequence[nn.Module]) -> list[str]:
    """A note if some layer was in training mode and would compute something else there."""
    parts = [part for module in modules for part in module.modules()]
    kinds = [type(part).__name__ for part in parts if part.training and differs_in_training(part)]
    if not kinds:
        return []
    listed = ", ".join(dict.fromkeys(kinds))
    return [f"the model ({listed}) was in training mode; evaluated in eval mode and restored"]
