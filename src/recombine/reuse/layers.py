"""One layer before and after: its dimensions, what is retained of them, and the regime that this means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.intervals import UNKNOWN, Estimate, resample_counts, resampled_estimate
from recombine.metrics.gram import as_units
from recombine.metrics.reuse import FULL, participation_ratio

Label = Literal["lazy", "nested", "rich", "unclear", "constant"]
LABELS: tuple[Label, ...] = get_args(Label)

RETAINED = 0.5
"""From this share on, the new representation counts as one inside the old one."""
SMALLER = 0.8
"""Below this share of its old dimensions, a layer counts as smaller."""
BLOCKS = 20
"""Groups of rows that are resampled for intervals."""
PAIRINGS = 16
"""Ways of pairing every unit with another one, for what units have in common by chance."""
MIN_ROWS = 40
DRAWS = 400
CONSTANT = 1e-6
"""A layer whose activations vary by less than this share of their size is constant: the rest is rounding."""
MAX_UNITS = 8192
"""Wider layers are represented by so many of their units, evenly spaced."""
NARROW = 512
"""Units up to which a covariance of every group of rows is kept (42 MiB); wider layers go by products of rows."""
MAX_ROWS = 5000
"""Rows that are measured, evenly spaced; more would hardly change the numbers."""
MAX_OPERATIONS = 2**34
"""Multiplications for one layer, about a second on one core; wide layers are measured on fewer rows."""


@dataclass(frozen=True)
class LayerReuse:
    """What became of one layer.

    **Attributes:**

    - `name`, `units`: of the layer; `used`: how many units were measured.
    - `before`, `after`: participation ratios, the effective numbers of dimensions.
    - `shared`: the effective number of shared dimensions; `chance`: the same if the units before and after are paired
        at random.
    - `kept`: dimensions after / before; `retained`: share of the new dimensions inside the old ones (0: as by chance,
        NaN if the old ones fill the layer).
    - `persistence`: share of the new variance in units that respond as before (0: as much as if units are paired with
        others, NaN if all units respond alike).
    - `label`: `"lazy"` (retained, as many dimensions), `"nested"` (retained, fewer), `"rich"` (not retained),
        `"unclear"` if an interval contains the threshold that matters, or `"constant"` if the layer gives the same for
        every input, before or after; it then has 0 dimensions, and nothing can be compared.
    """

    name: str
    units: int
    used: int
    before: float
    after: float
    shared: float
    chance: float
    kept: Estimate
    retained: Estimate
    persistence: Estimate

    @property
    def label(self) -> Label:
        """The regime."""
        if self.before == 0 or self.after == 0:
            return "constant"
        inside = [e for e in (self.retained, self.persistence) if np.isfinite(e.value)]
        if inside and all(e.high < RETAINED for e in inside):
            return "rich"
        if not any(e.low >= RETAINED for e in inside):
            return "unclear"
        if self.kept.high < SMALLER:
            return "nested"
        return "lazy" if self.kept.low >= SMALLER else "unclear"


def max_rows(units: int) -> int:
    """How many rows are measured if the widest layer has so many units; wide ones take `2 * rows² * units` products.

    ```python
    >>> from recombine.reuse.layers import max_rows
    >>> max_rows(100), max_rows(2048), max_rows(50_000)
    (5000, 2048, 1024)

    ```
    """
    used = min(units, MAX_UNITS)
    return MAX_ROWS if used <= NARROW else min(MAX_ROWS, int(np.sqrt(MAX_OPERATIONS / (2 * used))))


def layer_reuse(
    name: str,
    before: Float[np.ndarray, "rows ..."],
    after: Float[np.ndarray, "rows ..."],
    *,
    seed: int = 0,
) -> LayerReuse:
    """Measures one layer; rows are the same inputs before and after.

    ```python
    >>> import numpy as np
    >>> from recombine.reuse.layers import layer_reuse
    >>> x = np.random.default_rng(0).normal(size=(400, 30)) * (np.arange(30) < 10)
    >>> layer_reuse("hidden", x, x * (np.arange(30) < 3)).label
    'nested'

    ```
    """
    x, units = _measured(f"{name}, before", before)
    y, _ = _measured(f"{name}, after", after)
    if x.shape != y.shape:
        raise InputError(f"layer {name!r}", y.shape, f"as many rows and units as before, {x.shape}")
    if len(x) < MIN_ROWS:
        raise InputError("inputs", len(x), f"at least {MIN_ROWS} rows")
    if not (x.any() and y.any()):
        return _constant(name, units, x, y)
    rng = np.random.default_rng(seed)
    block = rng.permutation(len(x)) % BLOCKS
    sums = _BlockSums.of(x, y, block)
    ones = np.ones((1, BLOCKS))
    value, draws = sums.measured(ones), sums.measured(resample_counts(rng, BLOCKS, DRAWS).astype(float))

    def estimate(measure: str) -> Estimate:
        point = float(value[measure][0])
        if not np.isfinite(point):
            return UNKNOWN
        spread = draws[measure][np.isfinite(draws[measure])]
        # Resampled rows repeat, which lowers the dimensions of all resamples alike; only their spread is of interest.
        found = resampled_estimate(point, spread - np.median(spread) + point, BLOCKS)
        return replace(found, high=min(1.0, found.high)) if measure == "persistence" else found

    return LayerReuse(
        name=name,
        units=units,
        used=x.shape[1],
        before=float(value["before"][0]),
        after=float(value["after"][0]),
        shared=float(value["shared"][0]),
        chance=float(value["chance"][0]),
        kept=estimate("kept"),
        retained=estimate("retained"),
        persistence=estimate("persistence"),
    )


def _measured(field: str, activations: object) -> tuple[np.ndarray, int]:
    """Centred activations in single precision, scaled to a largest value of 1, of at most `MAX_UNITS` units.

    Zeros if the layer is constant.
    """
    flat = as_units(np.asarray(activations))
    if not np.issubdtype(flat.dtype, np.number) or not np.isfinite(flat).all():
        raise InputError(field, "NaN, infinity or no numbers", "finite activations")
    units = flat.shape[1]
    if units > MAX_UNITS:
        flat = flat[:, np.linspace(0, units - 1, MAX_UNITS).round().astype(int)]
    centred = flat - flat.mean(axis=0, dtype=np.float64)
    largest = float(np.abs(centred).max(initial=0.0))
    if largest <= CONSTANT * float(np.abs(flat).max(initial=0.0)):
        return np.zeros(flat.shape, dtype=np.float32), units
    return (centred / largest).astype(np.float32), units


def _constant(name: str, units: int, x: np.ndarray, y: np.ndarray) -> LayerReuse:
    """A layer that does not respond to its inputs, before or after."""
    before, after = (participation_ratio(values) if values.any() else 0.0 for values in (x, y))
    return LayerReuse(name, units, x.shape[1], before, after, 0.0, 0.0, UNKNOWN, UNKNOWN, UNKNOWN)


@dataclass(frozen=True, eq=False)
class _BlockSums:
    """Sums over blocks of rows from which every measure of any resample follows.

    - `squares`: `(2, blocks)`, sums of squares before and after.
    - `traces`: `(3, blocks, blocks)`, `tr(X_k' X_k Y_l' Y_l)` of before with before, after with after, and both.
    - `moments`: `(3, blocks, units)`, sums of `x²`, `y²` and `x y`.
    - `paired`: `(pairings, blocks, units)`, sums of `x y` where every unit is paired with another one before.
    - `common`: `(2, blocks)`, sums of squares of what all units do together, `(sum of units)²`.
    - `units`: of the layer.
    """

    squares: np.ndarray
    common: np.ndarray
    traces: np.ndarray
    moments: np.ndarray
    paired: np.ndarray
    units: int

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray, block: np.ndarray) -> _BlockSums:
        parts = [(x[block == k], y[block == k]) for k in range(BLOCKS)]
        moments = np.array(
            [
                [(a * b).sum(axis=0, dtype=np.float64) for a, b in pairs]
                for pairs in (
                    [(p, p) for p, _ in parts],
                    [(q, q) for _, q in parts],
                    parts,
                )
            ]
        )
        by_units = x.shape[1] <= min(NARROW, len(x))
        traces = _traces_by_units(parts) if by_units else _traces_by_rows(parts)
        together = [[np.square(p[i].sum(axis=1, dtype=np.float64)).sum() for p in parts] for i in (0, 1)]
        paired = np.array(
            [
                [(np.roll(p, -shift, axis=1) * q).sum(axis=0, dtype=np.float64) for p, q in parts]
                for shift in pairings(x.shape[1])
            ]
        )
        return cls(moments[:2].sum(axis=2), np.array(together), traces, moments, paired, x.shape[1])

    def measured(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """All measures for `(draws, blocks)` weights of the blocks."""
        traces = [np.einsum("dk,kl,dl->d", weights, t, weights) for t in self.traces]
        totals = weights @ self.squares.T
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # a draw without the only rows to which a layer responds
            before, after = totals[:, 0] ** 2 / traces[0], totals[:, 1] ** 2 / traces[1]
            shared = totals[:, 0] * totals[:, 1] * traces[2] / (traces[0] * traces[1])
            chance = before * after * self._random_pairing(totals, weights @ self.common.T)
            kept = after / before
            room = after - chance
            retained = np.where(room > FULL * after, (shared - chance) / room, np.nan)
        return {
            "before": before,
            "after": after,
            "shared": shared,
            "chance": chance,
            "kept": kept,
            "retained": retained,
            "persistence": self._persistence(weights),
        }

    def _random_pairing(self, totals: np.ndarray, common: np.ndarray) -> np.ndarray:
        """The mean of `tr(C_1 P C_2 P') / (tr C_1 tr C_2)` over all permutations P of the units.

        Diagonal and other entries are averaged apart. The others matter where all units rise and fall together, as
        rectified units that share a feature do: such a layer overlaps with any other one of this kind.
        """
        others = (common - totals) / totals  # sums of covariances between units, relative to the variance
        return 1 / self.units + others[:, 0] * others[:, 1] / (self.units * max(1, self.units - 1))

    def _persistence(self, weights: np.ndarray) -> np.ndarray:
        """How much of the new variance single units explain of themselves, beyond what other units explain.

        Without that, any two networks whose units all follow one direction of the inputs would seem alike.
        """
        old, new, both = (weights @ moment for moment in self.moments)  # (draws, units)

        def explained(shift: int, products: np.ndarray) -> np.ndarray:
            variance = np.roll(old, -shift, axis=1)
            silent = variance <= 1e-9 * variance.max(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(silent, 0.0, products**2 / variance).sum(axis=1) / new.sum(axis=1)

        own, shifts = explained(0, both), pairings(self.units)
        if not shifts:  # a single unit
            return own
        others = [
            explained(shift, weights @ products) for shift, products in zip(shifts, self.paired, strict=True)
        ]
        chance = np.mean(others, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(1 - chance > FULL, (own - chance) / (1 - chance), np.nan)


def pairings(units: int) -> list[int]:
    """By how many places units are shifted to pair each with another one: all ways, or some evenly spaced.

    ```python
    >>> from recombine.reuse.layers import pairings
    >>> pairings(1), pairings(4), len(pairings(1000))
    ([], [1, 2, 3], 16)

    ```
    """
    if units <= PAIRINGS + 1:
        return list(range(1, units))
    return np.linspace(1, units - 1, PAIRINGS).round().astype(int).tolist()


def _traces_by_units(parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Covariances of all blocks, then their inner products; for layers with few units."""
    old, new = (np.stack([(p[i].T @ p[i]).ravel() for p in parts]) for i in (0, 1))
    return np.stack([old @ old.T, new @ new.T, old @ new.T]).astype(np.float64)


def _traces_by_rows(parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Squared products of all rows, summed over pairs of blocks; for wide layers."""
    x, y = (np.concatenate([p[i] for p in parts]) for i in (0, 1))
    starts = np.cumsum([0, *(len(p) for p, _ in parts[:-1])])

    def squared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        products = a @ b.T
        np.square(products, out=products)
        by_block = np.add.reduceat(products, starts, axis=0, dtype=np.float64)
        return np.add.reduceat(by_block, starts, axis=1)

    return np.stack([squared(x, x), squared(y, y), squared(x, y)])
