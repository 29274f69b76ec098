"""What gradient descent penalises in the solutions of a second task, given what a network learned from the first.

A two-layer diagonal linear network computes `<beta, x>` with `beta = w+ v+ - w- v-`. From given weights, gradient flow
on any loss of the predictions moves every coefficient along

    beta = (A e^u - B e^-u) / 4,   A = (w+ + v+)² + (w- - v-)²,   B = (w- + v-)² + (w+ - v+)²

for some u in the span of the inputs. The interpolating limit therefore minimises a sum over coefficients of
`phi_c(beta) - b beta` with `c = sqrt(A B)`, `b = ln(A / B) / 2` and `phi_c' = arcsinh(2 beta / c)`: quadratic for
coefficients below c, nearly linear above. Pretraining enters through c, which is close to |beta_aux| on features that
the first task uses (Lippl & Lindsey 2024).

Two numbers describe a penalty R of a coefficient: its **order** d ln R / d ln |beta| (2: like the squared l2 norm, 1:
like the l1 norm) and its **feature dependence** d ln R / d ln |beta_aux| (negative: known features are cheaper). If R
is homogeneous of degree 1 in both magnitudes, order + feature dependence = 1 (conservation law).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

Array = np.ndarray
Numbers = np.ndarray | float
"""One magnitude, or several."""
Regime = Literal["lazy", "nested", "rich"]
REGIMES: tuple[Regime, ...] = get_args(Regime)
"""Lazy: all known features are reused. Nested: a sparse subset of them. Rich: features are learned anew."""
KNOWN = 10.0
"""A feature counts as known if its c is at least this many times that of a feature that no task has used."""


@dataclass(frozen=True, eq=False)
class DiagonalWeights:
    """The weights of a two-layer diagonal linear network, four vectors with one entry per input.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import DiagonalWeights
    >>> weights = DiagonalWeights.constant(3, w=0.1, v=0.2).trained_to([1.0, 0.0, -0.5])
    >>> weights.coefficients.round(12) + 0
    array([ 1. ,  0. , -0.5])
    >>> weights.rescaled(0.5).with_readout(1e-3).penalty().c.round(3)
    array([0.243, 0.005, 0.118])

    ```
    """

    w_plus: Float[Array, " features"]
    v_plus: Float[Array, " features"]
    w_minus: Float[Array, " features"]
    v_minus: Float[Array, " features"]

    def __post_init__(self) -> None:
        for name in ("w_plus", "v_plus", "w_minus", "v_minus"):
            object.__setattr__(self, name, finite(name, getattr(self, name), ndim=1))
        if len({len(self.w_plus), len(self.v_plus), len(self.w_minus), len(self.v_minus)}) != 1:
            shapes = [len(getattr(self, name)) for name in ("w_plus", "v_plus", "w_minus", "v_minus")]
            raise InputError("weights", shapes, "four vectors of the same length")

    @classmethod
    def constant(cls, features: int, *, w: float, v: float) -> DiagonalWeights:
        """Both pathways alike, so that the network starts at zero."""
        return cls(*(np.full(features, value) for value in (w, v, w, v)))

    @property
    def coefficients(self) -> Float[Array, " features"]:
        """The linear function that the network computes."""
        return self.w_plus * self.v_plus - self.w_minus * self.v_minus

    @property
    def conserved(self) -> Float[Array, "2 features"]:
        """w² - v² of both pathways, which gradient flow keeps constant."""
        return np.stack([self.w_plus**2 - self.v_plus**2, self.w_minus**2 - self.v_minus**2])

    def penalty(self) -> DiagonalPenalty:
        """What gradient flow from these weights minimises among the solutions of a task."""
        return DiagonalPenalty(
            (self.w_plus + self.v_plus) ** 2 + (self.w_minus - self.v_minus) ** 2,
            (self.w_minus + self.v_minus) ** 2 + (self.w_plus - self.v_plus) ** 2,
        )

    def trained_to(self, coefficients: Float[Array, " features"]) -> DiagonalWeights:
        """The weights after gradient flow has brought the network to these coefficients, whatever the loss."""
        u = self.penalty().position(finite("coefficients", coefficients, ndim=1))
        grow, shrink = np.exp(u / 2), np.exp(-u / 2)

        def moved(w: Array, v: Array, grow: Array, shrink: Array) -> tuple[Array, Array]:
            total, difference = (w + v) * grow, (w - v) * shrink
            return (total + difference) / 2, (total - difference) / 2

        w_plus, v_plus = moved(self.w_plus, self.v_plus, grow, shrink)
        w_minus, v_minus = moved(self.w_minus, self.v_minus, shrink, grow)
        return DiagonalWeights(w_plus, v_plus, w_minus, v_minus)

    def rescaled(self, scale: float) -> DiagonalWeights:
        """All weights times `scale`; c becomes `scale²` times as large."""
        if not (np.isfinite(scale) and scale > 0):
            raise InputError("scale", scale, "a positive number")
        return DiagonalWeights(*(scale * w for w in (self.w_plus, self.v_plus, self.w_minus, self.v_minus)))

    def with_readout(self, value: float) -> DiagonalWeights:
        """The same first layer, and a readout that starts anew at `value` in both pathways."""
        readout = np.full(len(self.w_plus), float(value))
        return DiagonalWeights(self.w_plus, readout, self.w_minus, readout)


@dataclass(frozen=True, eq=False)
class DiagonalPenalty:
    """The penalty that gradient flow in a diagonal linear network minimises, from A and B of its initial weights.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import DiagonalWeights
    >>> known = DiagonalWeights.constant(2, w=1e-3, v=1e-3).trained_to([1.0, 0.0])
    >>> penalty = known.with_readout(1e-3).penalty()
    >>> penalty.value(np.array([0.1, 0.1])).round(4)  # a known and a new feature of the same size
    array([0.0098, 1.0513])
    >>> penalty.regimes(np.array([0.1, 0.1])).tolist()
    ['lazy', 'rich']

    ```
    """

    A: Float[Array, " features"]
    B: Float[Array, " features"]

    @property
    def c(self) -> Float[Array, " features"]:
        """The magnitude below which the penalty is quadratic and above which it is nearly linear."""
        return np.sqrt(self.A) * np.sqrt(self.B)

    @property
    def b(self) -> Float[Array, " features"]:
        """The tilt towards the coefficients at which the network starts; 0 if it starts at zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.A == self.B, 0.0, (np.log(self.A) - np.log(self.B)) / 2)

    def coefficients(self, u: Float[Array, " features"]) -> Float[Array, " features"]:
        """The coefficients at a position along the flow; 0 gives those at the start."""
        return (self.A * np.exp(u) - self.B * np.exp(-u)) / 4

    def position(self, beta: Float[Array, " features"]) -> Float[Array, " features"]:
        """The position of given coefficients along the flow, the gradient of the penalty: `arcsinh(2 beta / c) - b`."""
        beta = np.asarray(beta, dtype=np.float64)
        if beta.shape != self.A.shape:
            raise InputError("coefficients", beta.shape, f"{self.A.shape}, one per feature")
        # The larger root of A e^2u - 4 beta e^u - B = 0, without subtracting numbers of similar size.
        root = np.hypot(2 * beta, self.c)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(beta >= 0, np.log((2 * beta + root) / self.A), np.log(self.B / (root - 2 * beta)))
        frozen = (self.A == 0) & (self.B == 0)
        return np.where(frozen & (beta == 0), 0.0, u)

    def value(self, beta: Float[Array, " features"]) -> Float[Array, " features"]:
        """The penalty of every coefficient; infinite for coefficients that the network cannot reach."""
        beta = np.asarray(beta, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            values = hypentropy(beta, self.c) - np.where(beta == 0, 0.0, self.b * beta)
        one_sided = (self.c == 0) & (self.A + self.B > 0)
        if one_sided.any():  # gradient flow cannot change the sign of such a coefficient
            scale = np.where(self.A > 0, self.A, self.B)
            magnitude = np.where(self.A > 0, beta, -beta)
            with np.errstate(divide="ignore", invalid="ignore"):
                entropy = np.where(magnitude == 0, 0.0, magnitude * (np.log(4 * magnitude / scale) - 1))
            values = np.where(one_sided, np.where(magnitude < 0, np.inf, entropy), values)
        return np.where((self.A + self.B == 0) & (beta != 0), np.inf, values)

    def regimes(self, beta: Float[Array, " features"], *, background: float | None = None) -> np.ndarray:
        """Whether each coefficient is learned in the lazy, the nested or the rich regime.

        **Arguments:**

        - `background`: c of a feature that no earlier task has used; by default the smallest c.

        **Returns:** `"lazy"` for coefficients below c, `"nested"` for larger ones of known features (c at least
        `KNOWN` times the background), `"rich"` for larger ones of new features.
        """
        c, beta = self.c, finite("beta", beta, ndim=1)
        floor = float(c.min()) if background is None else background
        lazy = np.abs(beta) < c
        return np.where(lazy, "lazy", np.where(c >= KNOWN * floor, "nested", "rich"))


def finite(name: str, values: object, *, ndim: int) -> np.ndarray:
    """The values as float64; an `InputError` if they are not numbers, not finite or of another dimension."""
    if hasattr(values, "detach"):  # a PyTorch tensor, of any precision and from any device
        values = values.detach().cpu().double()
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        shown = "rows of different lengths, or no numbers" if isinstance(values, list | tuple) else values
        raise InputError(name, shown, "numbers") from None
    if array.ndim != ndim or not array.size:
        kind = "a vector" if ndim == 1 else f"an array with {ndim} axes"
        raise InputError(name, array.shape, f"{kind}, not empty")
    if not np.isfinite(array).all():
        raise InputError(name, "NaN or infinity", "finite numbers")
    return array


# Diagonal networks ----------------------------------------------------------------------------------------------------


def hypentropy(beta: Numbers, c: Numbers) -> Float[Array, "*any"]:
    """The penalty `phi_c(beta) = (c/4) q(4 beta / c)`, with `q(z) = 2 - sqrt(4 + z²) + z arcsinh(z/2)`.

    `beta² / c` for small, `|beta| (ln(4 |beta| / c) - 1)` for large coefficients. Written so that nothing overflows
    and nothing cancels; infinite for c = 0.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import hypentropy
    >>> (hypentropy(np.array([1e-3, 1.0, 1e300]), 1.0) / np.array([1e-6, 1.0, 1e300])).round(3)
    array([  1.   ,   0.826, 691.162])

    ```
    """
    size, c = np.abs(beta), np.asarray(c, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = _arcsinh_ratio(2 * size, c)
        share = np.where(size == 0, 0.0, 2 * size / (c + np.hypot(c, 2 * size)))
        return np.where(size == 0, 0.0, size * (slope - share))


def hypentropy_slope(beta: Numbers, c: Numbers) -> Float[Array, "*any"]:
    """The derivative of `hypentropy`, `arcsinh(2 beta / c)`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import hypentropy_slope
    >>> round(float(hypentropy_slope(0.5, 1.0)), 4)
    0.8814

    ```
    """
    return np.sign(beta) * _arcsinh_ratio(2 * np.abs(beta), np.asarray(c, dtype=np.float64))


def _arcsinh_ratio(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """arcsinh(x / c) for x, c >= 0, also where x / c overflows."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = x / c
        by_logs = np.log(2.0) + np.log(x) - np.log(c)
        return np.where(x == 0, 0.0, np.where(ratio < 1e8, np.arcsinh(ratio), by_logs))


def finetuning_order(beta: Numbers, c: Numbers) -> Float[Array, "*any"]:
    """The order of `hypentropy` in beta: from 2 (lazy, coefficients below c) to 1 (far above it).

    ```python
    >>> import numpy as np
    >>> from recombine.theory import finetuning_order
    >>> finetuning_order(1.0, np.array([1e-3, 1.0, 100.0])).round(4)
    array([1.137 , 1.7486, 1.9999])

    ```
    """
    size = np.abs(np.asarray(beta, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        order = size * hypentropy_slope(size, c) / hypentropy(size, c)
    return np.where(size == 0, 2.0, order)


def finetuning_dependence(beta: Numbers, aux: Numbers, *, background: float = 0.0) -> Float[Array, "*any"]:
    """The feature dependence of `hypentropy` with `c = |aux| + background`: from -1 (lazy) to 0 (a new feature).

    ```python
    >>> import numpy as np
    >>> from recombine.theory import finetuning_dependence
    >>> finetuning_dependence(1.0, np.array([1e-3, 1.0, 100.0])).round(4)
    array([-0.137 , -0.7486, -0.9999])

    ```
    """
    size, known = np.abs(np.asarray(beta, dtype=np.float64)), np.abs(np.asarray(aux, dtype=np.float64))
    c = known + background
    # d phi / d c = (2 - sqrt(4 + z²)) / 4 with z = 4 beta / c, written without cancellation
    by_c = -2 * size / (c + np.hypot(c, 2 * size)) * (size / c)
    with np.errstate(divide="ignore", invalid="ignore"):
        dependence = known * by_c / hypentropy(size, c)
    return np.where(size == 0, -known / c, dependence)


def plotted_penalty(beta: Numbers, aux: Numbers, *, readout: float = 0.0) -> Float[Array, "*any"]:
    """The form that the paper's figures show, `a q(2 beta / a)` with `a = |aux| + readout²`.

    It is twice the exact penalty with a known coefficient twice as large; use it to redraw those figures only.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import plotted_penalty
    >>> round(float(plotted_penalty(1.0, 1.0, readout=1e-3)), 4)
    0.9343

    ```
    """
    return 2 * hypentropy(np.asarray(beta, dtype=np.float64), 2 * (np.abs(aux) + readout**2))


# Multi-task learning --------------------------------------------------------------------------------------------------


def group_norm(coefficients: Float[Array, "tasks features"]) -> float:
    """The sum over features of the l2 norm over tasks: half the squared l2 norm of the smallest weights.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import group_norm
    >>> group_norm([[3.0, 0.0], [4.0, 2.0]])
    7.0

    ```
    """
    return float(np.linalg.norm(np.asarray(coefficients, dtype=np.float64), axis=0).sum())


def multi_task_penalty(beta: Numbers, aux: Numbers) -> Float[Array, "*any"]:
    """What a coefficient adds to the group norm of two tasks, `sqrt(beta² + aux²) - |aux|`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import multi_task_penalty
    >>> round(float(multi_task_penalty(3.0, 4.0)), 12)
    1.0

    ```
    """
    size, known = np.abs(np.asarray(beta, dtype=np.float64)), np.abs(np.asarray(aux, dtype=np.float64))
    with np.errstate(invalid="ignore"):
        return np.where(size == 0, 0.0, size * (size / (known + np.hypot(size, known))))


def multi_task_order(beta: Numbers, aux: Numbers) -> Float[Array, "*any"]:
    """The order of `multi_task_penalty`, `1 + |aux| / sqrt(beta² + aux²)`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import multi_task_order
    >>> float(multi_task_order(3.0, 4.0))
    1.8

    ```
    """
    known = np.abs(np.asarray(aux, dtype=np.float64))
    return 1 + known / np.hypot(beta, known)


def multi_task_dependence(beta: Numbers, aux: Numbers) -> Float[Array, "*any"]:
    """The feature dependence of `multi_task_penalty`, `-|aux| / sqrt(beta² + aux²)`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import multi_task_dependence
    >>> float(multi_task_dependence(3.0, 4.0))
    -0.8

    ```
    """
    known = np.abs(np.asarray(aux, dtype=np.float64))
    return -known / np.hypot(beta, known)


# Rectified linear units -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UnitPenalty:
    """The squared distance that a rectified linear unit moves in finetuning, and how it depends on both magnitudes.

    - `norm`: of the incoming weights after the move.
    - `value`, `order`, `dependence`: the penalty, its order and its feature dependence.
    """

    norm: Float[Array, "*any"]
    value: Float[Array, "*any"]
    order: Float[Array, "*any"]
    dependence: Float[Array, "*any"]


def unit_penalty(
    beta: Numbers,
    aux: Numbers,
    cosine: Numbers = 1.0,
    *,
    readout: float = 0.0,
) -> UnitPenalty:
    """The squared l2 distance by which finetuning moves one unit of a ReLU network.

    The unit starts with incoming weights of norm `sqrt(aux)` and the given readout weight. It has to end with magnitude
    `beta` (norm times readout) in a direction at the given cosine; its norm m solves a quartic,
    `m⁴ - sqrt(aux) cosine m³ + readout beta m - beta² = 0`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import unit_penalty
    >>> found = unit_penalty(np.ones(3), np.array([1e-3, 1.0, 1e3]), 0.9)
    >>> found.value.round(4)
    array([  1.9439,   0.9402, 190.0012])
    >>> found.order + found.dependence
    array([1., 1., 1.])

    ```
    """
    beta, aux, cosine = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (beta, aux, cosine)))
    if not ((beta > 0) & (beta < np.inf) & (aux >= 0) & (aux < np.inf)).all():
        raise InputError(
            "beta, aux", "NaN or a magnitude out of range", "finite numbers, beta above 0 and aux from 0 on"
        )
    if not (np.abs(cosine) <= 1).all():
        raise InputError("cosine", float(np.abs(cosine).max()), "numbers from -1 to 1")
    start = np.sqrt(aux)
    norm = _unit_norm(beta, start * cosine, readout)
    weight = beta / norm
    # norm - start cosine from the quartic itself, because the difference cancels where the unit hardly moves
    change = (weight - readout) * weight / norm
    off_axis = (1 - cosine) * (1 + cosine)
    value = (weight - readout) ** 2 + change**2 + aux * off_axis
    by_beta = 2 * (weight - readout) / norm
    by_aux = aux * off_axis - start * cosine * change
    with np.errstate(divide="ignore", invalid="ignore"):
        return UnitPenalty(norm, value, beta * by_beta / value, by_aux / value)


def _unit_norm(beta: np.ndarray, pull: np.ndarray, readout: float) -> np.ndarray:
    """The norm at which a unit moves least: the best positive root of the quartic, by safeguarded Newton steps."""
    if readout:
        return _best_root(beta, pull, readout)
    # m³ (m - pull) = beta² has one positive root, above max(pull, 0), where the left side is increasing and convex.
    m = np.maximum(pull, 0.0) + np.sqrt(beta)
    for _ in range(100):
        step = (m**3 * (m - pull) - beta**2) / (m**2 * (4 * m - 3 * pull))
        m = m - step
        if (np.abs(step) <= 1e-15 * m).all():
            break
    return m


def _best_root(beta: np.ndarray, pull: np.ndarray, readout: float) -> np.ndarray:
    """The positive root of the quartic with the smallest distance; there may be three."""
    found = np.empty(beta.shape)
    for i in np.ndindex(beta.shape):
        roots = np.roots([1.0, -float(pull[i]), 0.0, readout * float(beta[i]), -(float(beta[i]) ** 2)])
        real = roots[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)].real
        distance = (beta[i] / real - readout) ** 2 + real**2 - 2 * real * pull[i]
        found[i] = real[np.argmin(distance)]
    return found
