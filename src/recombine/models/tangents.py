"""The tangent kernel of a model: inner products of the gradients of its outputs by all parameters.

Training follows this kernel. While it stays as it was, a model learns like its linearisation at the start of training.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from recombine.models.model import Model
from recombine.models.model_errors import ModelError, NoDerivativeError

MAX_ROWS, MIN_ROWS = 64, 16
"""Rows of the kernel; fewer for models with very many parameters."""
MAX_OUTPUTS = 4
"""More outputs than this are replaced by so many sums with random signs, whose kernels have the same mean."""
MAX_PARAMETERS = 2**19
"""Of larger models, so many entries of the gradients are kept (128 MiB), a fixed random sample of every array."""
MAX_WORK = 2**30
"""Entries of gradients that are computed, rows times outputs times parameters: some ten seconds on one core."""

Sample = Sequence[tuple[np.ndarray | None, float]]
"""For every array of parameters: which entries are kept (`None`: all), and the factor that makes up for the rest."""


def tangent_kernel(
    model: Model, *, shuffled: bool = False, seed: int = 0
) -> Float[np.ndarray, "rows rows"] | str:
    """The kernel on up to 64 rows, summed over outputs; or, in a few words, why there is none.

    Two versions of one model get the same rows, sums of outputs and entries of the gradients if the seed is the same.

    **Arguments:**

    - `model`: a PyTorch module, or a JAX model whose parameters are arrays inside it; evaluated in eval mode.
    - `shuffled`: put the entries of every weight matrix in random order first: a network with the same weights that
        has learned nothing.
    - `seed`: of everything that is drawn.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine.models import as_model
    >>> from recombine.models.tangents import tangent_kernel
    >>> layer = eqx.nn.Linear(2, 1, use_bias=False, key=jax.random.key(0))
    >>> x = np.array([[1.0, 0.0], [1.0, 2.0]], dtype=np.float32)
    >>> tangent_kernel(as_model(layer, x)).tolist()  # for a linear map, inner products of the inputs
    [[1.0, 1.0], [1.0, 5.0]]

    ```
    """
    if model.framework == "torch":
        from recombine.models.torch.tangents import gradients, parameter_sizes
    elif model.framework == "jax":
        from recombine.models.jax_tangents import gradients, parameter_sizes
    else:
        return "only PyTorch and JAX models can be differentiated by their parameters"
    sizes = parameter_sizes(model.function)
    if not sizes:
        return "the parameters of the model cannot be seen"
    rng, total = np.random.default_rng(seed), sum(sizes)
    rows = min(model.rows, int(np.clip(MAX_WORK // total, MIN_ROWS, MAX_ROWS)))
    directions = _directions(rng, int(np.prod(model.output_shape)))
    directions = directions[: max(1, MAX_WORK // (rows * total))]
    sample, inputs = _sample(rng, sizes), model.inputs.spread(rows)
    kernel = np.zeros((rows, rows))
    try:
        with model.eval_mode():
            for direction in directions:
                tangents = gradients(model, inputs, direction, sample, seed if shuffled else None)
                kernel += tangents @ tangents.T
    except (NoDerivativeError, ModelError) as error:
        reason = error.words if isinstance(error, ModelError) else str(error)
        return f"the model cannot be differentiated by its parameters ({reason})"
    return kernel


def _directions(rng: np.random.Generator, outputs: int) -> np.ndarray:
    if outputs <= MAX_OUTPUTS:
        return np.eye(outputs, dtype=np.float32)
    return rng.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(MAX_OUTPUTS, outputs))


def _sample(rng: np.random.Generator, sizes: Sequence[int]) -> Sample:
    total = sum(sizes)
    if total <= MAX_PARAMETERS:
        return [(None, 1.0)] * len(sizes)
    sample: list[tuple[np.ndarray | None, float]] = []
    for size in sizes:
        kept = max(1, round(MAX_PARAMETERS * size / total))
        sample.append((rng.integers(size, size=kept), float(np.sqrt(size / kept))))
    return sample
