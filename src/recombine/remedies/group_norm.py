"""The group norm of several tasks: a penalty under which tasks share features, and its proximal rule.

The sum over features of the l2 norm over tasks is what multi-task learning with weight decay minimises (Lippl & Lindsey
2024, Section 3). Plain gradient descent does not end there. `shrink_groups` with `recombine.training.descend_proximal`
trains with the norm itself: features that no task needs get exactly zero in all tasks.
"""

from __future__ import annotations

from typing import Any

from recombine.remedies.array_namespace import namespace_of


def group_norm_of(weights: Any) -> Any:
    """Σ_d √(Σ_t w_td²): `(tasks, features)` weights, such as coefficients or the readouts of several tasks.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import group_norm_of
    >>> float(group_norm_of(np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 0.0]])))
    6.0

    ```
    """
    return ((weights**2).sum(0) ** 0.5).sum()


def shrink_groups(weights: Any, threshold: Any) -> Any:
    """The proximal rule of `group_norm_of`: every feature loses `threshold` of its length over tasks, down to zero.

    `(tasks, features)` weights of NumPy, JAX or PyTorch.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import shrink_groups
    >>> shrink_groups(np.array([[3.0, 0.6], [4.0, 0.8]]), 2.5).tolist()
    [[1.5, 0.0], [2.0, 0.0]]

    ```
    """
    lengths = (weights**2).sum(0) ** 0.5
    return weights * (1 - threshold / namespace_of(lengths).where(lengths > 0, lengths, 1.0)).clip(0)
