"""Running a module of someone else's with hooks in it, and leaving it as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from recombine.errors import InputError

Result = TypeVar("Result")


@torch.compiler.disable
def uncompiled(function: Callable[..., Result], *args: Any, **settings: Any) -> Result:
    """Calls a function eagerly, also from within a compiled one (which breaks into two graphs there)."""
    return function(*args, **settings)


@contextmanager
def reachable() -> Iterator[None]:
    """Every submodule is called, so that its hooks run.

    Two shortcuts of PyTorch's pass hooks by: a compiled program keeps the hooks of the time when it was compiled,
    and attention in evaluation has a fused path that calls no submodule. Meanwhile both are off.
    """
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


class Attached:
    """While its `with` block runs, what `attach` registers is in force, and every submodule is `reachable`.

    `attach` gets the stack that undoes it all. It works within compiled functions, too.
    """

    def __init__(self, attach: Callable[[ExitStack], None]) -> None:
        self._attach, self._open = attach, ExitStack()

    def __enter__(self) -> None:
        uncompiled(self._enter)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        uncompiled(self._open.close)

    def _enter(self) -> None:
        with ExitStack() as stack:
            stack.enter_context(reachable())
            self._attach(stack)
            self._open = stack.pop_all()


def original(module: nn.Module) -> nn.Module:
    """The module that `torch.compile` was given; any other as it is."""
    if not isinstance(module, nn.Module):
        raise InputError("module", type(module).__name__, "a torch.nn.Module")
    inner = getattr(module, "_orig_mod", module)
    return inner if isinstance(inner, nn.Module) else module


def run(module: nn.Module, x: Any) -> Any:
    """The module's output; buffers, such as the running statistics of batch normalisation, stay as they are.

    `x` is the input, a tuple of inputs, or a dictionary of named ones.
    """
    named = dict(x) if isinstance(x, Mapping) else {}
    args = () if named else x if isinstance(x, tuple) else (x,)
    copies = {name: buffer.clone() for name, buffer in module.named_buffers()}
    return torch.func.functional_call(module, copies, args, named)


def tensors(tree: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists and dictionaries, in order."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, tuple | list):
        for part in tree:
            yield from tensors(part)
    elif isinstance(tree, Mapping):
        for part in tree.values():
            yield from tensors(part)


def first_tensor(tree: Any) -> Tensor | None:
    """What counts as the output of a module that gives several (attention gives its weights, too)."""
    return next(tensors(tree), None)


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
