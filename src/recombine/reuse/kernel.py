"""How far the tangent kernel of the whole model moved, compared with a network that has learned nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.intervals import Estimate, resample_counts, resampled_estimate
from recombine.metrics.reuse import kernel_movement
from recombine.models.model import Model
from recombine.models.tangents import tangent_kernel
from recombine.report import bracket, fixed, plain_number

STAYED = 0.1
"""Up to this share of the movement to shuffled weights, the kernel stayed: the linearised model explains the rest."""
CHANGED = 0.5
"""From this share on, the kernel is nearer to that of shuffled weights than to its own start."""
TELLING = 0.02
"""If even shuffled weights move the kernel by less than this, it does not depend on what was learned."""
DRAWS = 400


@dataclass(frozen=True)
class TangentMovement:
    """Movement of the tangent kernel, one minus the cosine of the kernels before and after.

    **Attributes:**

    - `moved`: from 0 (the same up to scale); the interval comes from resampling rows.
    - `shuffled`: the same for the weights before in random order, as a baseline; NaN if that kernel vanishes.
    - `rows`: of the kernel.
    """

    moved: Estimate
    shuffled: float
    rows: int

    @property
    def relative(self) -> float:
        """The movement as a share of that to shuffled weights; NaN if these do not change the kernel either."""
        return self.moved.value / self.shuffled if self.shuffled >= TELLING else float("nan")

    @property
    def sentence(self) -> str:
        """What was measured, and what it means."""
        baseline = (
            f"; by {fixed(self.shuffled, 2)} if the old weights are shuffled" if self.shuffled > 0 else ""
        )
        what = "The tangent kernel (how all parameters together change the outputs) moved by"
        text = f"{what} {bracket(self.moved)} (1 - cosine, on {self.rows} inputs{baseline})."
        if not np.isfinite(self.relative):
            return (
                f"{text} Even shuffled weights hardly change it, so it says nothing about what was learned."
            )
        if self.relative <= STAYED:
            return (
                f"{text} It stayed: the model learned like its linearisation, without changing its features."
            )
        if self.relative >= CHANGED:
            return f"{text} It changed: the model's features, or the readout that weights them, differ from before."
        return (
            f"{text} It moved part of the way: features, or the readout that weights them, changed in part."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "moved": plain_number(self.moved.value),
            "interval": [plain_number(end) for end in self.moved.pair],
            "shuffled": plain_number(self.shuffled),
            "relative": plain_number(self.relative),
            "rows": self.rows,
        }


def tangent_movement(before: Model, after: Model, *, seed: int = 0) -> TangentMovement | str:
    """Movement between two versions of a model, or why it cannot be measured.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine.models import as_model
    >>> from recombine.reuse.kernel import tangent_movement
    >>> x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    >>> nets = [as_model(eqx.nn.MLP(3, 1, 32, 1, key=jax.random.key(seed)), x) for seed in (0, 1)]
    >>> tangent_movement(nets[0], nets[0]).moved.value < 1e-6 < tangent_movement(*nets).moved.value
    True

    ```
    """
    kernels = []
    for model in (before, after):
        kernel = tangent_kernel(model, seed=seed)
        if isinstance(kernel, str):
            return kernel
        kernels.append(kernel)
    old, new = kernels
    try:
        value = max(0.0, kernel_movement(old, new))
    except InputError:
        return "the outputs do not depend on the parameters"
    counts = resample_counts(np.random.default_rng(seed), len(old), DRAWS).astype(float)
    products, sizes, new_sizes = (
        np.einsum("dk,kl,dl->d", counts, a * b, counts) for a, b in ((old, new), (old, old), (new, new))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        draws = 1 - products / np.sqrt(sizes * new_sizes)
    estimate = resampled_estimate(value, draws - np.nanmedian(draws) + value, len(old))
    moved = Estimate(value, max(0.0, estimate.low), estimate.high)
    return TangentMovement(moved, _shuffled_movement(before, old, seed), len(old))


def _shuffled_movement(model: Model, kernel: np.ndarray, seed: int) -> float:
    shuffled = tangent_kernel(model, shuffled=True, seed=seed)
    try:
        return float("nan") if isinstance(shuffled, str) else kernel_movement(kernel, shuffled)
    except InputError:
        return float("nan")
