"""The non-linearity between layers, by name or as a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.probes.connectivity.separation import leaky_relu

Activation = Callable[[np.ndarray], np.ndarray]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.tanh(x / 2) / 2 + 0.5


def _linear(x: np.ndarray) -> np.ndarray:
    return x


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


KNOWN: dict[str, Activation] = {
    "linear": _linear,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}


def nonlinearity(activation: Any) -> Activation:
    """A function on arrays from its name; `"leaky_relu:0.01"` says the slope below zero, which has to be known.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.nonlinearities import nonlinearity
    >>> nonlinearity("leaky_relu:0.1")(np.array([-2.0, 3.0])).tolist()
    [-0.2, 3.0]

    ```
    """
    if callable(activation):
        return activation
    if activation in KNOWN:
        return KNOWN[activation]
    name, _, slope = str(activation).partition(":")
    try:
        if name == "leaky_relu":
            return partial(leaky_relu, slope=float(slope))
    except ValueError:
        pass
    names = ", ".join([*KNOWN, "leaky_relu:SLOPE"])
    raise InputError("activation", activation, f"a function, or one of {names}")
