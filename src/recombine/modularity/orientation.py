"""Which axis of a weight matrix is which: from the caller, the framework's names, or the shapes of the neighbours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from recombine.data.nets import NetArrays, read_net
from recombine.errors import InputError
from recombine.metrics.connectivity import ORIENTATIONS, Chain, Orientation, layer_weights

OrientationSource = Literal["stated", "names", "shapes", "assumed"]
"""How the orientation is known: the caller or the model states it, the names of the arrays are those of a framework,
only one fits the shapes of the neighbours, or it is not known."""

_NAMES: dict[Orientation, re.Pattern[str]] = {
    "outputs-first": re.compile(r"(^|[.\]/])weight$"),  # PyTorch and Equinox: fc1.weight, layers[0].weight
    "inputs-first": re.compile(r"(^|[.\]/])kernel$"),  # Flax and Keras: Dense_0/kernel
}


def read_weights(weights: Any) -> tuple[NetArrays, Orientation | None]:
    """The arrays of a net, and their orientation where the model itself states it.

    A PyTorch module is read in the order of its `state_dict`, an Equinox module in the order of its stages.
    """
    if callable(getattr(weights, "state_dict", None)) and callable(getattr(weights, "named_modules", None)):
        return _from_torch(weights), "outputs-first"
    if any(kind.__module__.startswith("equinox") for kind in type(weights).__mro__):
        from recombine.nets import staged, weight_matrices

        return NetArrays(
            type(weights).__name__, list(weight_matrices(staged(weights))), (), None
        ), "inputs-first"
    return read_net(weights), None


def _from_torch(module: Any) -> NetArrays:
    state = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    floats: Mapping[str, Any] = {name: value.float().numpy() for name, value in state.items()}
    names = [name for name, array in floats.items() if array.ndim in {2, 4} and name.endswith("weight")]
    if not names:
        raise InputError("weights", type(module).__name__, "a module with dense layers or convolutions")
    biases = [floats.get(f"{name.removesuffix('weight')}bias") for name in names]
    complete = [bias for bias in biases if bias is not None]
    return NetArrays(
        type(module).__name__,
        [floats[name] for name in names],
        names,
        complete if len(complete) == len(names) else None,
    )


def oriented_weights(
    arrays: NetArrays,
    orientation: Orientation | None,
    *,
    inputs: int | None = None,
    outputs: int | None = None,
) -> tuple[Chain, Orientation, OrientationSource]:
    """The chain of weights with the orientation that is stated, or the only one that fits.

    **Arguments:**

    - `orientation`: as the caller states it; `None` to infer it.
    - `inputs`, `outputs`: how many the net has, if that is known.

    **Returns:**

    The chain, its orientation and how that is known. If both orientations fit, inputs first is assumed.

    ```python
    >>> import numpy as np
    >>> from recombine.data.nets import read_net
    >>> from recombine.modularity.orientation import oriented_weights
    >>> oriented_weights(read_net([np.ones((8, 3)), np.ones((2, 8))]), None)[1:]
    ('outputs-first', 'shapes')
    >>> oriented_weights(read_net([np.ones((3, 3)), np.ones((3, 3))]), None)[1:]
    ('inputs-first', 'assumed')
    >>> oriented_weights(read_net({"fc1.weight": np.ones((3, 3)), "fc2.weight": np.ones((3, 3))}), None)[1:]
    ('outputs-first', 'names')

    ```
    """
    if orientation is not None:
        return layer_weights(arrays.weights, orientation=orientation), orientation, "stated"
    chains: dict[Orientation, Chain] = {}
    for candidate in ORIENTATIONS:
        try:
            chains[candidate] = layer_weights(arrays.weights, orientation=candidate)
        except InputError:  # raised again below if no candidate fits
            continue
    fitting = {
        one: chain for one, chain in chains.items() if _fits(chain, arrays.biases, inputs, outputs)
    } or chains
    named = next((one for one, pattern in _NAMES.items() if _all_match(pattern, arrays.names)), None)
    if named in fitting:
        return fitting[named], named, "names"
    if len(fitting) == 1:
        (only,) = fitting
        return fitting[only], only, "shapes"
    # both fit; or none does, and the error is about what people expect
    chain = layer_weights(arrays.weights, orientation=named or "inputs-first")
    return chain, named or "inputs-first", "names" if named else "assumed"


def _fits(chain: Chain, biases: Sequence[Any] | None, inputs: int | None, outputs: int | None) -> bool:
    """Whether a chain agrees with the lengths of biases and with the numbers of inputs and outputs."""
    units = [matrix.shape[1] for matrix in chain]
    if (
        biases is not None
        and len(biases) == len(chain)
        and [np.shape(bias) for bias in biases] != [(size,) for size in units]
    ):
        return False
    return inputs in {None, chain[0].shape[0]} and outputs in {None, units[-1]}


def _all_match(pattern: re.Pattern[str], names: Sequence[str]) -> bool:
    return bool(names) and all(pattern.search(name) for name in names)
