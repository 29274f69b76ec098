"""Activity noise in PyTorch: units are noisy, and the noise grows with their activity (Qian et al. 2025)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.eager import Attached
from recombine.models.torch.hooks import hooked, known_layers, original


def activity_noise(
    activity: Tensor, *, level: float, exponent: float, generator: torch.Generator | None = None
) -> Tensor:
    """`a + level |a|^(exponent/2) ξ` with ξ ~ N(0, 1), independent for every unit and example.

    The variance is level² |a|^exponent: 0 is additive, 1 Poisson-like, 2 multiplicative noise. Gradients flow
    through the size of the noise, and are 0 there where a unit is silent.

    ```python
    >>> import torch
    >>> from recombine.torch import activity_noise
    >>> rows = torch.full((100_000, 1), 4.0)
    >>> round(activity_noise(rows, level=0.5, exponent=1).var().item(), 1)  # 0.5² × 4
    1.0

    ```
    """
    return activity + level * _spread(activity, exponent) * _draw(activity, generator)


def _spread(activity: Tensor, exponent: float) -> Tensor | float:
    """|a|^(exponent/2), with gradient 0 where a unit is silent."""
    if exponent == 0:
        return 1.0
    size = activity.abs()
    if exponent == 2:
        return size
    silent = size == 0
    positive = size.masked_fill(silent, 1.0)
    root = positive.sqrt() if exponent == 1 else positive ** (exponent / 2)
    return root.masked_fill(silent, 0.0)


def _draw(activity: Tensor, generator: torch.Generator | None) -> Tensor:
    return torch.randn(activity.shape, generator=generator, device=activity.device, dtype=activity.dtype)


class ActivityNoise(nn.Module):
    """`activity_noise` as a layer: on in training mode, off in evaluation unless `always`.

    ```python
    >>> import torch
    >>> from recombine.torch import ActivityNoise
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), ActivityNoise(0.1, 2), torch.nn.Linear(8, 2))
    >>> x = torch.ones(5, 3)
    >>> bool((net(x) == net(x)).all()), bool((net.eval()(x) == net(x)).all())
    (False, True)

    ```
    """

    def __init__(
        self,
        level: float,
        exponent: float,
        *,
        always: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        _check(level, exponent)
        self.level, self.exponent, self.always, self.generator = level, exponent, always, generator

    def forward(self, activity: Tensor) -> Tensor:
        if not (self.training or self.always):
            return activity
        return activity_noise(activity, level=self.level, exponent=self.exponent, generator=self.generator)

    def extra_repr(self) -> str:
        """Level and exponent, when the module is printed."""
        return f"level={self.level}, exponent={self.exponent}" + (", always=True" if self.always else "")


def noisy(
    module: nn.Module,
    layers: Sequence[str],
    *,
    level: float,
    exponent: float,
    always: bool = False,
    generator: torch.Generator | None = None,
) -> Attached:
    """Activity noise on the outputs of some layers of a module, while the `with` block runs.

    As with dropout, each layer's own mode decides: noise in training, none in evaluation unless `always`. A compiled
    module runs uncompiled meanwhile; to train it fast, build `ActivityNoise` into it.

    **Arguments:**

    - `layers`: names of submodules, as in `module.named_modules()`. Of a layer that returns a tuple, the first tensor
        becomes noisy.
    - `level`, `exponent`, `generator`: as for `activity_noise`.

    ```python
    >>> import torch
    >>> from recombine.torch import noisy
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> x = torch.ones(5, 3)
    >>> with noisy(net, ["1"], level=0.1, exponent=2):
    ...     output = net(x)
    >>> bool((output == net(x)).any())
    False

    ```
    """
    _check(level, exponent)
    module = original(module)
    parts = [module.get_submodule(name) for name in known_layers(module, layers)]

    def perturb(activity: Tensor) -> Tensor:
        return activity_noise(activity, level=level, exponent=exponent, generator=generator)

    def hook(part: nn.Module, args: Any, output: Any) -> Any:
        return _with_first(output, perturb) if part.training or always else None

    def attach(stack: ExitStack) -> None:
        stack.enter_context(hooked([(part, hook) for part in parts]))

    return Attached(attach)


def _with_first(output: Any, perturb: Callable[[Tensor], Tensor]) -> Any:
    """The same output with its first tensor changed."""
    if isinstance(output, Tensor):
        return perturb(output)
    if isinstance(output, tuple | list) and output and isinstance(output[0], Tensor):
        parts = [perturb(output[0]), *output[1:]]
        return type(output)(*parts) if hasattr(output, "_fields") else type(output)(parts)
    raise InputError(
        "layers", type(output).__name__, "layers that return a tensor, or a tuple that begins with one"
    )


def _check(level: float, exponent: float) -> None:
    for name, value in (("level", level), ("exponent", exponent)):
        if not 0 <= value < float("inf"):
            raise InputError(name, value, "a finite number of 0 or more")
