"""The functions of the library that an array belongs to, so that arithmetic is written once for JAX and PyTorch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def namespace_of(array: Any) -> Any:
    """`numpy`, `jax.numpy` or `torch`: whichever made the array.

    ```python
    >>> import jax.numpy as jnp, numpy as np
    >>> from recombine.remedies.array_namespace import namespace_of
    >>> namespace_of(np.ones(2)).__name__, namespace_of(jnp.ones(2)).__name__
    ('numpy', 'jax.numpy')

    ```
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch
    return np if isinstance(array, np.ndarray | np.generic) else sys.modules["jax.numpy"]
