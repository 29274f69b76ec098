"""How much of what a network had learned it still uses after learning something else.

Rows are inputs, the same before and after; units are those of one layer. Three learners leave different traces: a lazy
one keeps the representation, a nested one shrinks it to fewer directions inside the old ones, and a rich one moves to
new directions.

| metric | range | null value |
|---|---|---|
| `participation_ratio` | 1 to min(rows, units) | – |
| `shared_dimensions` (ENSD) | from 0 on; the participation ratio if nothing changed | product of both ratios / units |
| `SharedDimensions.retained` | at most 1 but for sampling; 1: all inside the old directions | 0 |
| `response_persistence` | 0 to 1; 1: every unit that varies responds as before | that of units paired with others |
| `weight_displacement` | from 0 on; relative to the old weights | sqrt(2) for independent weights of equal norm |
| `kernel_movement` | 0 to 2; 0: the same kernel up to scale | – |
| `match_units` | cosines from -1 to 1 | standard deviation 1 / sqrt(inputs) |

**Reference:** Lippl and Lindsey, Inductive biases of multi-task learning and finetuning: multiple regimes of feature
reuse, 2024, arXiv 2310.02396; Giaffar et al., The effective number of shared dimensions, 2024, for ENSD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Real

from recombine.errors import InputError
from recombine.metrics.gram import as_units

BLOCK = 2048
"""Units whose products with all others are in memory at once."""
FULL = 0.1
"""Directions fill a layer if chance leaves less than this share of the new dimensions outside of them."""
Fate = Literal["reused", "rotated", "fresh"]
FATES: tuple[Fate, ...] = get_args(Fate)
REUSED, ROTATED = 0.95, 0.5
"""Cosines with the old direction from which a unit counts as reused, and from which it counts as rotated."""


@dataclass(frozen=True)
class SharedDimensions:
    """Dimensions of a layer before and after, and those that both share.

    - `before`, `after`: participation ratios.
    - `shared`: the effective number of shared dimensions (ENSD).
    - `chance`: ENSD of two unrelated representations with these participation ratios.
    """

    before: float
    after: float
    shared: float
    chance: float

    @property
    def retained(self) -> float:
        """The share of the new dimensions that lie in the old ones; 0 if as many as by chance.

        NaN if the old dimensions fill the layer, because then any new ones lie inside.
        """
        room = self.after - self.chance
        return (self.shared - self.chance) / room if room > FULL * self.after else float("nan")

    @property
    def kept(self) -> float:
        """The new number of dimensions relative to the old one."""
        return self.after / self.before


def participation_ratio(activations: Real[np.ndarray, "rows ..."], *, centred: bool = True) -> float:
    """The effective number of directions in which a layer varies, `(tr C)² / tr(C²)`.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units.
    - `centred`: subtract each unit's mean; the paper does not.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import participation_ratio
    >>> participation_ratio(np.eye(4), centred=False)
    4.0

    ```
    """
    x = _prepared("activations", activations, centred)
    return float(_trace(x) ** 2 / _product_trace(x, x))


def shared_dimensions(
    before: Real[np.ndarray, "rows ..."], after: Real[np.ndarray, "rows ..."], *, centred: bool = True
) -> SharedDimensions:
    """How many dimensions of a layer survive: participation ratios and the effective number of shared dimensions.

    With covariances C and participation ratios P, `ENSD = P_1 P_2 tr(C_1 C_2) / (tr C_1 tr C_2)`. Whichever of rows and
    units are fewer are multiplied, and wide layers in blocks, so that memory stays small.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import shared_dimensions
    >>> x = np.random.default_rng(0).normal(size=(20000, 8))
    >>> old, new = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0]  # finetuning kept two of four directions
    >>> found = shared_dimensions(x * old, x * new)
    >>> round(found.before, 1), round(found.after, 1), round(found.retained, 1)
    (4.0, 2.0, 1.0)

    ```
    """
    x, y = _prepared("before", before, centred), _prepared("after", after, centred)
    if x.shape != y.shape:
        raise InputError("after", y.shape, f"as many rows and units as before, {x.shape}")
    traces = _trace(x), _trace(y)
    squares = _product_trace(x, x), _product_trace(y, y)
    ratios = traces[0] ** 2 / squares[0], traces[1] ** 2 / squares[1]
    shared = traces[0] * traces[1] * _product_trace(x, y) / (squares[0] * squares[1])
    return SharedDimensions(
        float(ratios[0]), float(ratios[1]), float(shared), float(ratios[0] * ratios[1] / x.shape[1])
    )


def response_persistence(before: Real[np.ndarray, "rows ..."], after: Real[np.ndarray, "rows ..."]) -> float:
    """The share of a layer's new variance in which its units still respond as before.

    Squared correlations of each unit with itself before, weighted by its variance after.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import response_persistence
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(response_persistence(x, x * [2.0, 0.5, 0.0]), 3)  # one unit grew, one shrank, one fell silent
    1.0

    ```
    """
    x, y = _prepared("before", before, True), _prepared("after", after, True)
    if x.shape != y.shape:
        raise InputError("after", y.shape, f"as many rows and units as before, {x.shape}")
    variance = np.einsum("ij,ij->j", x, x), np.einsum("ij,ij->j", y, y)
    product = np.einsum("ij,ij->j", x, y)
    silent = variance[0] <= 1e-12 * variance[0].max()
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(silent, 0.0, product**2 / variance[0])
    return float(explained.sum() / variance[1].sum())


def weight_displacement(
    before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """How far each array of weights moved, relative to its norm before: `|w - w_0| / |w_0|`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import weight_displacement
    >>> weight_displacement({"w": np.array([3.0, 4.0])}, {"w": np.array([3.0, 9.0])})
    {'w': 1.0}

    ```
    """
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())[0]
        raise InputError("weights", odd, "the same names before and after")
    moved = {}
    for name, old in before.items():
        new = np.asarray(after[name], dtype=np.float64)
        old = np.asarray(old, dtype=np.float64)
        if old.shape != new.shape:
            raise InputError(f"weights {name!r}", new.shape, f"the shape before, {old.shape}")
        if not (np.isfinite(old).all() and np.isfinite(new).all()):
            raise InputError(f"weights {name!r}", "NaN or infinity", "finite numbers")
        size = float(np.linalg.norm(old))
        change = float(np.linalg.norm(new - old))
        moved[name] = change / size if size else float("inf") if change else 0.0
    return moved


def kernel_movement(before: Real[np.ndarray, "rows rows"], after: Real[np.ndarray, "rows rows"]) -> float:
    """One minus the cosine of two kernels on the same rows, such as tangent kernels: 0 if only the scale changed.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import kernel_movement
    >>> round(kernel_movement(np.eye(3), 5 * np.eye(3)), 12)
    0.0

    ```
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if old.shape != new.shape or old.ndim != 2:
        raise InputError("kernel", (old.shape, new.shape), "two matrices over the same rows")
    size = np.linalg.norm(old) * np.linalg.norm(new)
    if not np.isfinite(size) or size == 0:
        raise InputError("kernel", "zeros, NaN or infinity", "finite kernels that are not zero")
    return float(1 - (old * new).sum() / size)


@dataclass(frozen=True, eq=False)
class UnitMatch:
    """What became of each unit of a layer, and how much of the new task each kind carries.

    - `cosine`: of each unit's incoming weights before and after.
    - `magnitude`: norm of the incoming weights times that of the outgoing weights, after.
    - `fate`: `"reused"`, `"rotated"` or `"fresh"`.
    """

    cosine: Float[np.ndarray, " units"]
    magnitude: Float[np.ndarray, " units"]
    fate: np.ndarray

    @property
    def shares(self) -> dict[Fate, float]:
        """The share of the summed magnitudes that each kind of unit carries; they add up to 1."""
        total = float(self.magnitude.sum())
        if total == 0:
            return dict.fromkeys(FATES, float("nan"))
        return {fate: float(self.magnitude[self.fate == fate].sum() / total) for fate in FATES}


def match_units(
    before: Real[np.ndarray, "units inputs"],
    after: Real[np.ndarray, "units inputs"],
    readout: Real[np.ndarray, "units outputs"],
    *,
    silent: float = 1e-3,
) -> UnitMatch:
    """Compares each unit's incoming weights with its own before finetuning.

    A unit is reused if it kept its direction, rotated if it turned by at most 60 degrees, and fresh otherwise, or if it
    was silent before: its old weights were shorter than `silent` times the longest.

    **Arguments:**

    - `before`, `after`: incoming weights.
    - `readout`: outgoing weights after finetuning.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import match_units
    >>> old = np.array([[1.0, 0.0], [0.0, 1.0], [1e-6, 0.0]])
    >>> new = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> match_units(old, new, np.ones((3, 1))).fate.tolist()
    ['reused', 'rotated', 'fresh']

    ```
    """
    old, new, out = (_matrix(n, a) for n, a in (("before", before), ("after", after), ("readout", readout)))
    if old.shape != new.shape:
        raise InputError("after", new.shape, f"as many units and inputs as before, {old.shape}")
    if len(out) != len(new):
        raise InputError("readout", out.shape, f"one row per unit, {len(new)}")
    lengths = np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.nan_to_num((old * new).sum(axis=1) / (lengths[0] * lengths[1]))
    known = lengths[0] > silent * lengths[0].max(initial=0.0)
    fate = np.where(
        known & (cosine >= REUSED), "reused", np.where(known & (cosine >= ROTATED), "rotated", "fresh")
    )
    return UnitMatch(cosine, lengths[1] * np.linalg.norm(out, axis=1), fate)


def _matrix(name: str, values: object) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InputError(name, array.shape, "a matrix of finite numbers")
    return array


def _prepared(name: str, activations: Real[np.ndarray, "rows ..."], centred: bool) -> np.ndarray:
    """Rows by units; an `InputError` where there is nothing to measure."""
    flat = as_units(activations)
    if len(flat) < 2:
        raise InputError(name, len(flat), "at least two rows")
    if not np.isfinite(flat).all():
        raise InputError(name, "NaN or infinity", "finite activations")
    flat = flat - flat.mean(axis=0, dtype=np.float64) if centred else flat.astype(np.float64, copy=False)
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0:
        what = "the same activations for every input" if centred else "only zeros"
        raise InputError(name, what, "a layer that responds to its inputs")
    return flat / largest


def _trace(x: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", x, x))


def _product_trace(x: np.ndarray, y: np.ndarray) -> float:
    """`tr(X'X Y'Y)`: by units if there are fewer units than rows, else by rows, in blocks."""
    rows, units = x.shape
    if units <= rows:
        parts = (slice(i, i + BLOCK) for i in range(0, units, BLOCK))
        return float(sum(np.einsum("ij,ij->", x[:, p].T @ x, y[:, p].T @ y) for p in parts))
    parts = (slice(i, i + BLOCK) for i in range(0, rows, BLOCK))
    return float(sum(((x[p] @ y.T) ** 2).sum() for p in parts))
