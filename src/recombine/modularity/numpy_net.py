"""The net as something that runs: from its weights, its biases and the name of its activation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.data.arrays import as_array
from recombine.errors import InputError
from recombine.metrics.connectivity import Chain, Perceptron
from recombine.metrics.connectivity.separation import Activation, leaky_relu


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.tanh(x / 2) / 2 + 0.5  # does not overflow


def _linear(x: np.ndarray) -> np.ndarray:
    return x


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


ACTIVATIONS: dict[str, Activation] = {
    "linear": _linear,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}


def activation_function(activation: Any) -> Activation:
    """A function on arrays from its name; `"leaky_relu:0.01"` states the slope below zero, which differs between nets.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.numpy_net import activation_function
    >>> activation_function("leaky_relu:0.1")(np.array([-2.0, 3.0])).tolist()
    [-0.2, 3.0]

    ```
    """
    if callable(activation):
        return activation
    if isinstance(activation, str) and activation in ACTIVATIONS:
        return ACTIVATIONS[activation]
    name, _, slope = activation.partition(":") if isinstance(activation, str) else ("", "", "")
    try:
        if name == "leaky_relu":
            return partial(leaky_relu, slope=float(slope))
    except ValueError:
        pass
    names = ", ".join([*ACTIVATIONS, "leaky_relu:SLOPE"])
    raise InputError("activation", activation, f"a function, or one of {names}")


def numpy_net(
    chain: Chain, biases: Sequence[Any] | None, activation: Any, *, convolutions: int, required: bool
) -> Perceptron | None:
    """The net in NumPy, or `None` without an activation.

    **Arguments:**

    - `convolutions`: how many of the layers are convolutions, which are not run.
    - `required`: whether the net has to run, because there is data.
    """
    if activation is None:
        if required:
            raise InputError("activation", None, "the net's activation, such as 'relu', to run it on data")
        return None
    function = activation_function(activation)
    if convolutions:
        got = f"a net with {convolutions} convolutions"
        raise InputError("activation", got, "dense layers only, or no activation: convolutions are not run")
    if biases is None:
        raise InputError("biases", None, "a vector for every layer (of zeros, if the net has none)")
    arrays = [np.asarray(bias) for bias in biases]
    if any(bias.dtype.kind not in "fiu" or not np.isfinite(bias).all() for bias in arrays):
        raise InputError("biases", "values that are not finite numbers", "finite numbers")
    return Perceptron(chain, tuple(bias.astype(np.float64) for bias in arrays), function)


def checked_rows(
    field: str, values: Any, columns: int, length: int | None = None
) -> Float[np.ndarray, "rows columns"]:
    """Data as an array of `columns` columns, and of `length` rows if that is known."""
    array = as_array(field, values)
    rows = "rows" if length is None else str(length)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[1] != columns or not len(array):
        got = f"{array.dtype.name} of shape {array.shape}"
        raise InputError(field, got, f"numbers of shape ({rows}, {columns})")
    if length is not None and len(array) != length:
        raise InputError(field, f"{len(array)} rows", f"{length}, as x has")
    if not np.isfinite(array).all():
        raise InputError(field, "values that are not finite", "finite numbers")
    return array.astype(np.float64)
