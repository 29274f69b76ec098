"""From a gated architecture to the norm that gradient descent minimises in it.

Gradient descent on a classification loss ends, in direction, at `min |theta|²` over all parameters that meet the
margins. In the space of functions this is `min R(beta)` with `R(beta) = min { |theta|² : the network computes beta
}`. `R` depends on depth, on which units share a gate and on whether the readout is gated; it is convex in the rows
below that say so.

| architecture | R | convex |
|---|---|---|
| linear, full connections, depth L | `L |beta|^(2/L)` | as a norm |
| one gated layer | `sum_c |beta_c|²` | yes |
| two layers, a gate for every unit | `2 sum_h |zeta_h|` (group norm) | yes |
| two layers, one gate for all units | `2 |(beta_c)_c|` | yes |
| two layers, on/off gates (frozen rectified units) | `2 sum_h |zeta_h|` | yes |
| two layers, gated readout, own gates | `2 sum_h |Z_h|`, every `Z_h` of rank one | no |
| two layers, gated readout, gates shared by enough units | `2 |Z|_*` (nuclear norm) | yes |
| diagonal linear, depth L | `L sum_d |beta_d|^(2/L)` | up to depth 2 |
| parallel chains, depth L | `L sum_h |zeta_h|^(2/L)` | up to depth 2 |
| anything else | only as the minimum over parameters | no |

**Reference:** Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks,
2022, arXiv 2202.02649.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

Array = np.ndarray
Wiring = Literal["full", "one to one"]


@dataclass(frozen=True)
class GatedLayer:
    """One layer of a gated linear network.

    **Arguments:**

    - `units`: how many.
    - `contexts`: weight vectors per unit, of which a fixed gate picks one; 1 for a linear layer.
    - `shared`: whether all units have the same gate.
    - `on_off`: gates that switch a unit on or off, as those of a trained rectified network that are kept fixed.
    - `wiring`: `"full"`, or `"one to one"` for layers in which every unit has one input.
    """

    units: int
    contexts: int = 1
    shared: bool = False
    on_off: bool = False
    wiring: Wiring = "full"

    def __post_init__(self) -> None:
        for name in ("units", "contexts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(name, value, "a whole number from 1 on")
        if self.on_off and self.contexts > 1:
            raise InputError("contexts", self.contexts, "1 for gates that are on or off")
        if self.wiring not in ("full", "one to one"):
            raise InputError("wiring", self.wiring, "'full' or 'one to one'")

    @property
    def gated(self) -> bool:
        """Whether the layer has gates at all."""
        return self.contexts > 1 or self.on_off


@dataclass(frozen=True)
class GatedArchitecture:
    """Layers from input to output; the last one is the readout, with one unit.

    ```python
    >>> from recombine.theory.gated import GatedArchitecture, GatedLayer
    >>> GatedArchitecture(785, (GatedLayer(50, contexts=2), GatedLayer(1))).norm().formula
    '2 sum_h |zeta_h|'

    ```
    """

    inputs: int
    layers: tuple[GatedLayer, ...]

    def __post_init__(self) -> None:
        if isinstance(self.inputs, bool) or not isinstance(self.inputs, int) or self.inputs < 1:
            raise InputError("inputs", self.inputs, "a whole number from 1 on")
        if not self.layers or not all(isinstance(layer, GatedLayer) for layer in self.layers):
            raise InputError("layers", self.layers, "at least one GatedLayer")
        if self.layers[-1].units != 1:
            raise InputError(
                "layers", f"a readout of {self.layers[-1].units} units", "one unit in the last layer"
            )
        before = self.inputs
        for layer in self.layers:
            if layer.wiring == "one to one" and layer.units != before:
                raise InputError(
                    "units", layer.units, f"{before}, as many as in the layer before, if one to one"
                )
            before = layer.units

    @property
    def depth(self) -> int:
        """How many layers have weights: the degree of the network in its parameters."""
        return len(self.layers)

    def norm(self) -> ImplicitNorm:
        """The norm that gradient descent minimises in this architecture."""
        for rule in _RULES:
            found = rule(self)
            if found is not None:
                return found
        return ImplicitNorm(
            "min |theta|² over all parameters that compute beta",
            convex=False,
            reason="hidden layers share weights, so the norm has no closed form; minimise over the parameters",
        )


@dataclass(frozen=True)
class ImplicitNorm:
    """`R(beta)` of an architecture.

    - `formula`: in words of the table in this module.
    - `convex`: whether minimising it under margins is a convex programme, which `solve_architecture` solves.
    - `shape`: of the coefficients that `value` takes; empty if the norm has no closed form.
    - `reason`: why it is not convex.
    """

    formula: str
    convex: bool = True
    shape: tuple[int, ...] = ()
    reason: str = ""
    measure: Callable[[Array], float] | None = field(default=None, repr=False, compare=False)

    def value(self, coefficients: Float[Array, ...]) -> float:
        """The smallest `|theta|²` with these coefficients.

        ```python
        >>> import numpy as np
        >>> from recombine.theory.gated import GatedArchitecture, GatedLayer
        >>> norm = GatedArchitecture(2, (GatedLayer(2, contexts=2), GatedLayer(1))).norm()
        >>> norm.shape, norm.value(np.array([[[3.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [1.0, 0.0]]]))
        ((2, 2, 2), 12.0)

        ```
        """
        if self.measure is None:
            raise InputError("architecture", self.formula, "one whose norm has a closed form")
        array = np.asarray(coefficients, dtype=np.float64)
        if array.shape != self.shape or not np.isfinite(array).all():
            raise InputError("coefficients", array.shape, f"finite numbers of shape {self.shape}")
        return self.measure(array)


def _linear(a: GatedArchitecture) -> ImplicitNorm | None:
    if any(layer.gated or layer.wiring != "full" for layer in a.layers):
        return None
    L = a.depth
    formula = "|beta|²" if L == 1 else f"{L} |beta|^(2/{L})" if L > 2 else "2 |beta|"
    return ImplicitNorm(
        formula,
        shape=(a.inputs,),
        measure=lambda beta: float(L * np.linalg.norm(beta) ** (2 / L)),
    )


def _one_layer(a: GatedArchitecture) -> ImplicitNorm | None:
    if a.depth != 1 or a.layers[0].wiring != "full":
        return None
    return ImplicitNorm(
        "sum_c |beta_c|²",
        shape=(a.layers[0].contexts, a.inputs),
        measure=lambda beta: float((beta**2).sum()),
    )


def _two_layers(a: GatedArchitecture) -> ImplicitNorm | None:
    if a.depth != 2 or any(layer.wiring != "full" for layer in a.layers) or a.layers[1].gated:
        return None
    first = a.layers[0]
    if first.shared:
        return ImplicitNorm(
            "2 |(beta_c)_c|",
            shape=(first.contexts, a.inputs),
            measure=lambda beta: float(2 * np.linalg.norm(beta)),
        )
    return ImplicitNorm(
        "2 sum_h |zeta_h|",
        shape=(first.units, first.contexts, a.inputs),
        measure=lambda zeta: float(2 * np.linalg.norm(zeta.reshape(len(zeta), -1), axis=1).sum()),
    )


def _gated_readout(a: GatedArchitecture) -> ImplicitNorm | None:
    if a.depth != 2 or any(layer.wiring != "full" for layer in a.layers):
        return None
    first, readout = a.layers
    if first.on_off or readout.on_off or not readout.gated:
        return None
    shape = (readout.contexts, first.contexts * a.inputs)
    if first.shared or not first.gated:
        rank = min(shape)
        if first.units >= rank:
            return ImplicitNorm(
                "2 |Z|_*",
                shape=shape,
                measure=lambda Z: float(2 * np.linalg.svd(Z, compute_uv=False).sum()),
            )
        return ImplicitNorm(
            "2 |Z|_* with a bounded rank",
            convex=False,
            shape=shape,
            reason=f"{first.units} units bound the rank of Z, which can be up to {rank}",
            measure=lambda Z: _bounded_rank(Z, first.units),
        )
    return ImplicitNorm(
        "2 sum_h |Z_h|, each of rank one",
        convex=False,
        shape=(first.units, *shape),
        reason="every unit has its own gate, so every Z_h must have rank one",
        measure=lambda Z: sum(_bounded_rank(own, 1) for own in Z),
    )


def _bounded_rank(Z: Array, rank: int) -> float:
    sizes = np.linalg.svd(Z, compute_uv=False)
    if sizes[rank:].sum() > 1e-9 * max(sizes[0], 1e-300):
        raise InputError(
            "coefficients", f"a matrix of rank above {rank}", f"rank {rank}, which the units can compute"
        )
    return float(2 * sizes[:rank].sum())


def _chains(a: GatedArchitecture) -> ImplicitNorm | None:
    """Diagonal networks, and chains of units that start from a full (gated) layer; the readout adds them up."""
    first, middle, readout = a.layers[0], a.layers[1:-1], a.layers[-1]
    linear_ends = readout.wiring == "full" and not readout.gated
    if a.depth < 2 or not linear_ends or any(layer.wiring == "full" or layer.gated for layer in middle):
        return None
    L = a.depth
    convex = L <= 2
    reason = "" if convex else f"depth {L} makes it a quasi-norm of degree 2/{L}"
    if first.wiring == "one to one" and not first.gated:
        return ImplicitNorm(
            f"{L} sum_d |beta_d|^(2/{L})" if L > 2 else "2 sum_d |beta_d|",
            convex=convex,
            shape=(a.inputs,),
            reason=reason,
            measure=lambda beta: float(L * (np.abs(beta) ** (2 / L)).sum()),
        )
    if first.wiring != "full" or first.shared:
        return None
    return ImplicitNorm(
        f"{L} sum_h |zeta_h|^(2/{L})",
        convex=convex,
        shape=(first.units, first.contexts, a.inputs),
        reason=reason,
        measure=lambda zeta: float(
            L * (np.linalg.norm(zeta.reshape(len(zeta), -1), axis=1) ** (2 / L)).sum()
        ),
    )


_RULES = (_linear, _one_layer, _two_layers, _gated_readout, _chains)
