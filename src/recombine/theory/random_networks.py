"""Overlap kernels of infinitely wide networks with random weights.

Such a network keeps a compositionally structured input structured, layer after layer: if two activity vectors have the
correlation `rho`, the kernel after the next layer is a function `k(rho)` that depends on the non-linearity. Kernels are
divided by their value for identical cells before every layer, so constants in `k` do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.overlap_kernels import OverlapKernel

Nonlinearity = Literal["relu", "leaky", "step", "quadratic", "gaussian"]
"""ReLU, leaky ReLU (slope 0.1 below 0), step, rectified quadratic, and `exp(-u^2)`."""

KernelKind = Literal["nngp", "ntk"]
"""Training of the readout alone (the network's Gaussian process), or of all weights (the neural tangent kernel)."""

NEGATIVE_SLOPE = 0.1
"""Of the leaky ReLU."""
MAX_DEPTH = 1_000
"""Hidden layers of a named profile; the kernels of deeper networks hardly change any more."""


def layer_kernel(rho: Float[np.ndarray, ...], nonlinearity: str) -> Float[np.ndarray, ...]:
    """`k(rho)`: the expected product of two activities whose inputs have correlation `rho`, up to a constant.

    For ReLU this is the arc-cosine kernel of Cho & Saul (2009).

    ```python
    >>> import numpy as np
    >>> from recombine.theory import layer_kernel
    >>> layer_kernel(np.array([0.0, 1.0]), "relu").round(4)  # independent and identical inputs
    array([0.1592, 0.5   ])

    ```
    """
    if nonlinearity == "gaussian":
        return 1 / np.sqrt(9 - 4 * rho**2)
    angle = np.arccos(rho)
    relu = (np.sqrt(1 - rho**2) + (np.pi - angle) * rho) / (2 * np.pi)
    kernels: dict[str, Callable[[], np.ndarray]] = {
        "relu": lambda: relu,
        "leaky": lambda: (1 - NEGATIVE_SLOPE) ** 2 * relu + NEGATIVE_SLOPE * rho,
        "step": lambda: np.pi - angle,
        "quadratic": lambda: 3 * np.sin(angle) * rho + (np.pi - angle) * (1 + 2 * rho**2),
    }
    if nonlinearity not in kernels:
        raise InputError("nonlinearity", nonlinearity, f"one of {', '.join(get_args(Nonlinearity))}")
    return kernels[nonlinearity]()


def multi_hot(factors: int, shares: Sequence[float] | None = None) -> OverlapKernel:
    """The kernel of concatenated one-hot codes: the share of the factors that agree.

    **Arguments:**

    - `shares`: the weight of each factor, adding up to 1; default: all the same.

    ```python
    >>> from recombine.theory import multi_hot
    >>> multi_hot(2, [0.75, 0.25]).gram([[0, 0]], [[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [[1.0, 0.75, 0.25, 0.0]]

    ```
    """
    weights = np.full(factors, 1 / factors) if shares is None else np.asarray(shares, dtype=np.float64)
    if weights.shape != (factors,) or (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise InputError("shares", weights.tolist(), f"{factors} numbers >= 0 that add up to 1")
    return OverlapKernel(np.tensordot(weights, np.indices((2,) * factors), axes=1))


def random_network(
    start: int | OverlapKernel,
    depth: int,
    nonlinearity: str = "relu",
    *,
    kind: KernelKind = "nngp",
    bias: float = 0.0,
) -> OverlapKernel:
    """The kernel after `depth` random layers, scaled to 1 for identical cells (the tangent kernel is not rescaled).

    **Arguments:**

    - `start`: the number of factors, each coded as one-hot, or the kernel of the inputs.
    - `depth`: the number of hidden layers; 0 gives the kernel of the inputs.
    - `nonlinearity`: one of `Nonlinearity`.
    - `kind`: `"nngp"` or, for ReLU only, `"ntk"`.
    - `bias`: variance of the first layer's biases over that of its summed inputs, for weights and biases drawn
        independently. (Biases of later layers vanish for wide layers if they are drawn in proportion to
        1/sqrt(width).)

    ```python
    >>> from recombine.theory import random_network
    >>> random_network(3, depth=3).order_shares.round(6).tolist()
    [0.203501, 0.094238, 0.106783]
    >>> float(random_network(2, depth=1, kind="ntk").order_shares[0].round(6))
    0.371068

    ```
    """
    if not isinstance(depth, int | np.integer) or depth < 0:
        raise InputError("depth", depth, "a whole number of hidden layers, at least 0")
    if kind not in get_args(KernelKind):
        raise InputError("kind", kind, f"one of {', '.join(get_args(KernelKind))}")
    if kind == "ntk" and nonlinearity != "relu":
        raise InputError("nonlinearity", nonlinearity, "'relu' for the tangent kernel")
    if bias < 0:
        raise InputError("bias", bias, "a variance ratio of at least 0")
    kernel = multi_hot(start) if isinstance(start, int | np.integer) else start
    similarity = kernel.similarity / kernel.similarity.ravel()[-1]
    if depth:
        similarity = (similarity + bias) / (1 + bias)
    tangent = similarity
    for _ in range(depth):
        rho = np.clip(similarity, -1, 1)
        similarity = layer_kernel(rho, nonlinearity)
        similarity = similarity / similarity.ravel()[-1]
        if kind == "ntk":
            # Jacot et al. (2018): the tangent kernel grows by the kernel of the derivative, a step for ReLU.
            derivative = (np.pi - np.arccos(rho)) / np.pi
            tangent = tangent * derivative + similarity
    return OverlapKernel(tangent if kind == "ntk" else similarity)


def salience_by_depth(
    factors: int, depths: int, nonlinearity: str = "relu", *, kind: KernelKind = "nngp"
) -> Float[np.ndarray, "depths factors"]:
    """`S(k; factors)` of random networks with 0 to `depths` hidden layers.

    ```python
    >>> from recombine.theory import salience_by_depth
    >>> salience_by_depth(2, 2).round(3).tolist()  # whole cells gain with depth
    [[0.5, 0.0], [0.426, 0.147], [0.376, 0.249]]

    ```
    """
    return np.stack(
        [random_network(factors, depth, nonlinearity, kind=kind).order_shares for depth in range(depths + 1)]
    )


def named_profile(text: str, factors: int) -> OverlapKernel:
    """A kernel by name: `"relu:3"`, `"relu depth 3"`, `"gaussian:1"`, `"ntk:2"` (the tangent kernel of ReLU).

    ```python
    >>> from recombine.theory import named_profile
    >>> named_profile("relu:3", 2).order_shares.round(4).tolist()
    [0.3373, 0.3253]

    ```
    """
    words = text.lower().replace(":", " ").replace("depth", " ").split()
    names = (*get_args(Nonlinearity), "ntk")
    if len(words) != 2 or words[0] not in names or not words[1].isdecimal():
        raise InputError("salience", text, f"NAME:DEPTH with a name of {', '.join(names)}, such as relu:3")
    if len(words[1]) > len(str(MAX_DEPTH)) or int(words[1]) > MAX_DEPTH:
        raise InputError("salience", text, f"a depth of at most {MAX_DEPTH:,}, such as relu:3")
    name, depth = words[0], int(words[1])
    if name == "ntk":
        return random_network(factors, depth, kind="ntk")
    return random_network(factors, depth, name)


def random_features(
    cells: np.ndarray, sizes: Sequence[int], *, units: int, seed: int, depth: int = 1
) -> Float[np.ndarray, "cells units"]:
    """Activities of a finite network with random ReLU layers on one-hot codes, to compare with the limit.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import random_features, random_network
    >>> cells = np.array([[0, 0], [0, 1]])
    >>> features = random_features(cells, (2, 2), units=100_000, seed=0)
    >>> similarity = features[0] @ features[1] / (features[0] @ features[0])
    >>> limit = random_network(2, depth=1).gram(cells[:1], cells[1:])
    >>> bool(abs(similarity - limit.item()) < 0.01)
    True

    ```
    """
    rng = np.random.default_rng(seed)
    activity = np.concatenate([np.eye(n)[cells[:, i]] for i, n in enumerate(sizes)], axis=1)
    for _ in range(depth):
        weights = rng.normal(size=(activity.shape[1], units)) * np.sqrt(2 / activity.shape[1])
        activity = np.maximum(activity @ weights, 0)
    return activity
