"""PyTorch modules as they are evaluated: eval mode, no gradients, every hook called; all put back afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def steady(owners: Sequence[Any]) -> Iterator[None]:
    """Puts modules and all that they hold in eval mode, and restores every single flag, also after an error.

    Attention's fast path, which skips hooks, and compiled calls are off inside.
    """
    import torch

    parts = {id(part): part for owner in owners for part in owner.modules()}.values()
    flags = [(part, part.training) for part in parts]
    compiled = [(part, part._compiled_call_impl) for part in parts if _compiled(part)]
    attention: Any = getattr(torch.backends, "mha", None)
    fast = attention is not None and attention.get_fastpath_enabled()
    try:
        for part, _ in flags:
            part.training = False
        for part, _ in compiled:
            part._compiled_call_impl = None
        if fast:
            attention.set_fastpath_enabled(False)
        yield
    finally:
        if fast:
            attention.set_fastpath_enabled(True)
        for part, call in compiled:
            part._compiled_call_impl = call
        for part, flag in flags:
            part.training = flag


@contextmanager
def hooked(hooks: Sequence[tuple[Any, Callable[..., Any]]]) -> Iterator[None]:
    """Forward hooks on modules, removed afterwards."""
    handles: list[Any] = []
    try:
        for module, hook in hooks:
            handles.append(module.register_forward_hook(hook))
        yield
    finally:
        for handle in handles:
            handle.remove()


def unsteady(module: Any) -> bool:
    """Whether a module computes something else in training: dropout, batch statistics and the like.

    ```python
    >>> import torch
    >>> from recombine.auditing.models.torch_modes import unsteady
    >>> unsteady(torch.nn.LSTM(2, 2, num_layers=2, dropout=0.1)), unsteady(torch.nn.Linear(2, 2))
    (True, False)

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


def _compiled(module: Any) -> bool:
    return getattr(module, "_compiled_call_impl", None) is not None
