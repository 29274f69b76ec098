"""Hooks that also work inside functions compiled by `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, TypeVar

import torch

from recombine.models.torch.hooks import reachable

Result = TypeVar("Result")


def uncompiled(function: Callable[..., Result], *args: Any, **settings: Any) -> Result:
    """Calls a function eagerly, also from within a compiled one (which breaks into two graphs there)."""
    if torch.compiler.is_compiling():
        # Imported here because it loads Dynamo, which takes two seconds; while compiling, Dynamo is loaded already.
        from recombine.models.torch.graph_break import call_outside_graph

        return call_outside_graph(function, *args, **settings)
    return function(*args, **settings)


class Attached:
    """While its `with` block runs, what `attach` registers is in force, and every submodule is `reachable`.

    `attach` gets the stack that undoes everything at the end.
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
