"""Watching a forward pass: which linear map reads which activity."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.eager import Attached
from recombine.models.torch.hooks import original, run
from recombine.models.torch.linear_maps import LINEAR_MAPS, Read, reads_of
from recombine.models.torch.origin import Origin


class Watch:
    """Records what the linear maps of a module read while the `with` block runs; penalties take it afterwards.

    With it, penalties are computed from the forward pass that a training loop makes anyway. Several passes add up; a
    new `with` block starts afresh. A compiled module runs uncompiled while it is watched, because compiled programs
    bypass hooks.

    - `reads`: linear maps and what they read, in order of execution, without those that read the module's input.
    - `output`: the module's last output.

    ```python
    >>> import torch
    >>> from recombine.torch import Watch, weighted_activity
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> x, y = torch.ones(5, 3), torch.zeros(5, 2)
    >>> with Watch(net) as watch:
    ...     loss = ((net(x) - y) ** 2).mean()
    >>> (loss + 1e-3 * weighted_activity(watch)).backward()
    >>> [read.name for read in watch.reads]
    ['2']

    ```
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = original(module)
        self._attached = Attached(self._attach)
        self._reset()

    def _reset(self) -> None:
        self.reads: list[Read] = []
        self.output: Any = None
        self.calls = self.maps = 0
        self._origin = Origin()

    def __enter__(self) -> Watch:
        self._attached.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._attached.__exit__(kind, error, where)

    def _attach(self, stack: ExitStack) -> None:
        self._reset()
        for name, part in self.module.named_modules():
            before = part.register_forward_pre_hook(self._before(name), with_kwargs=True)
            stack.callback(before.remove)
            stack.callback(part.register_forward_hook(self._after, always_call=True).remove)
        stack.enter_context(self._origin)

    def _before(self, name: str) -> Any:
        def note(part: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            self._origin.enter(self.module, (args, named))
            self.calls += 1
            self.maps += isinstance(part, LINEAR_MAPS)
            self.reads += [
                read for read in reads_of(name, part, args, named) if not self._origin.is_input(read.tensor)
            ]

        return note

    def _after(self, part: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        self._origin.leave()
        if part is self.module:
            self.output = output


def watched(source: nn.Module | Watch, x: Any) -> Watch:
    """A watch that has seen a forward pass: `source` itself, or that of a module on `x`."""
    if isinstance(source, Watch):
        if x is not None:
            raise InputError("x", type(x).__name__, "None: the watch has seen its inputs")
        if not source.calls:
            raise InputError("watch", "no call", "a forward pass inside `with Watch(module) as watch:`")
        return source
    if x is None:
        raise InputError("x", None, "the module's input, or a Watch in place of the module")
    with Watch(source) as watch:
        run(watch.module, x)
    return watch


def chosen_reads(watch: Watch, layers: Sequence[str] | None) -> list[Read]:
    """Reads of hidden activity, by all linear maps or by those of these names."""
    if not watch.maps:
        raise InputError(
            "module",
            type(watch.module).__name__,
            "a module that calls linear, convolutional or attention layers",
        )
    for read in watch.reads:
        if read.is_overwritten:
            got = f"what {read.name!r} reads, overwritten afterwards"
            raise InputError(
                "module", got, "h = h + block(h) instead of h += block(h), and no inplace=True there"
            )
    if layers is None:
        return watch.reads
    if isinstance(layers, str):
        raise InputError("layers", layers, "a list of names")
    names = list(dict.fromkeys(read.name for read in watch.reads))
    for name in layers:
        if name not in names:
            raise InputError("layers", name, f"linear maps that read hidden activity: {', '.join(names)}")
    return [read for read in watch.reads if read.name in layers]


def zero_like(watch: Watch) -> Tensor:
    """A zero on the device of the watched module."""
    weight = next(watch.module.parameters())
    return weight.new_zeros(())
