"""Whose saliences the forecasts assume: of a random network, of a given kernel, or of a layer of the user's model.

The salience of a factor (or of a combination of factors) is the share of a representation's similarity that it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.advice.thresholds import (
    MAX_LAYER_CELLS,
    MAX_LAYER_ROWS,
    MAX_UNEVENNESS,
    MIN_REPEATED_CELLS,
)
from recombine.data.array_files import read_array
from recombine.data.arrays import as_array
from recombine.data.files import is_path
from recombine.errors import InputError
from recombine.report import count, fixed, percent, plain_number
from recombine.spaces.observations import Observations
from recombine.theory import OverlapKernel, SalienceEstimate, estimate_salience, named_profile
from recombine.theory.overlap_kernels import overlaps

DEFAULT_PROFILE = "relu:3"
"""A random ReLU network with three layers: of middle depth, since the true depth is not known."""
BAND = ("relu:1", "relu:10")
"""The forecasts for these depths are shown with the default: shallower and deeper than most networks."""
FROM_ACTIVATIONS = "activations"
"""The name of saliences that were measured in a layer."""
_SEED = 0
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class MeasuredSalience:
    """Saliences measured in a layer, from `rows` of its `total_rows` rows (both 0 if they were measured elsewhere)."""

    estimate: SalienceEstimate
    rows: int = 0
    total_rows: int = 0

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Intervals and fit as plain values; `names` are those of all factors."""
        return {
            "interval": [[plain_number(end) for end in ends] for ends in self.estimate.interval.tolist()],
            "unevenness": {
                " ".join(name for name, shared in zip(names, index, strict=True) if shared)
                or "nothing": plain_number(float(value))
                for index, value in np.ndenumerate(self.estimate.unevenness)
            },
            "self_pairs": self.estimate.self_pairs,
            "rows": self.rows,
            "of_rows": self.total_rows,
        }

    def sentences(self) -> list[str]:
        """What was measured, and how far it can be trusted."""
        estimate = self.estimate
        nouns = {1: "single factor", 2: "pair", 3: "triple"}
        shares = [
            f"S({order}) = {fixed(share, 3)} [{fixed(low, 3)}, {fixed(high, 3)}]"
            f" for each {nouns.get(order, f'group of {order} factors')}"
            for order, (share, (low, high)) in enumerate(
                zip(estimate.order_shares, estimate.interval.tolist(), strict=True), start=1
            )
        ]
        lines = [
            f"salience, the share of the layer's similarity that a combination carries: {', '.join(shares)}"
        ]
        if self.rows < self.total_rows:
            lines.append(
                f"measured on {count(self.rows)} of {count(self.total_rows, 'row')}, drawn at random by level and cell"
            )
        worst = float(np.nanmax(estimate.unevenness))
        fit = "only roughly" if worst > MAX_UNEVENNESS else "closely"
        lines.append(
            f"pairs of cells that share the same factors differ in similarity by up to {percent(worst)} of its range, "
            f"so the forecasts' assumption that similarity depends only on the shared factors holds {fit}"
        )
        if estimate.self_pairs:
            lines.append(
                "hardly any cell has a second row, so rows were compared with themselves: noise counts as memory of "
                "whole cells, and the saliences of single factors come out too small"
            )
        return lines


@dataclass(frozen=True, eq=False)
class SalienceProfile:
    """A kernel and its name; `assumed` if it is the default; `measured` if it comes from a layer."""

    name: str
    kernel: OverlapKernel
    assumed: bool = False
    measured: MeasuredSalience | None = None

    def band(self) -> list[OverlapKernel]:
        """The kernels at the ends of the band, if the profile is only assumed."""
        return [named_profile(name, self.kernel.factors) for name in BAND] if self.assumed else []

    def description(self) -> str:
        """Whose saliences these are, as part of a sentence."""
        if self.assumed:
            return "the saliences of a random ReLU network with 3 layers"
        return "the layer's saliences" if self.name == FROM_ACTIVATIONS else f"{self.name} saliences"

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Saliences by order, and how they were measured."""
        shares = self.kernel.order_shares if self.measured is None else self.measured.estimate.order_shares
        return {
            "profile": self.name,
            "by_order": [plain_number(share) for share in shares.tolist()],
            "estimate": None if self.measured is None else self.measured.to_dict(names),
        }


def salience_profile(
    salience: str | OverlapKernel | SalienceEstimate | None, factors: int
) -> SalienceProfile:
    """The profile that the argument `salience` of `advise` asks for, for this number of factors.

    ```python
    >>> from recombine.advice.forecasts.salience_profile import salience_profile
    >>> salience_profile(None, 3).description()
    'the saliences of a random ReLU network with 3 layers'

    ```
    """
    kernel = salience.kernel if isinstance(salience, SalienceEstimate) else salience
    if isinstance(kernel, OverlapKernel) and kernel.factors != factors:
        raise InputError("salience", f"a kernel of {kernel.factors} factors", f"one of {factors} factors")
    if isinstance(salience, SalienceEstimate):
        return _measured_profile(salience)
    if isinstance(salience, OverlapKernel):
        return SalienceProfile("given", salience)
    if salience is not None and not isinstance(salience, str):
        raise InputError(
            "salience", type(salience).__name__, "NAME:DEPTH such as 'relu:3', a kernel, or an estimate"
        )
    name = salience or DEFAULT_PROFILE
    return SalienceProfile(name, named_profile(name, factors), assumed=salience is None)


def _measured_profile(estimate: SalienceEstimate, *, rows: int = 0, total_rows: int = 0) -> SalienceProfile:
    # Noise can push a salience slightly below 0, which no representation has, so forecasts use 0 there.
    kernel = OverlapKernel.from_salience(np.maximum(estimate.kernel.salience, 0))
    return SalienceProfile(FROM_ACTIVATIONS, kernel, measured=MeasuredSalience(estimate, rows, total_rows))


def profile_from_activations(activations: Any, table: Observations) -> SalienceProfile:
    """The saliences of a layer, measured from its activity on the rows of the table.

    **Arguments:**

    - `activations`: `(rows, ...)`, one row of activity for every row of the table, or the path of a `.npy` file, or of
        a `.npz` file with one array. Nothing is unpickled.
    """
    activity = _array(activations)
    if activity.shape[0] != len(table.cells):
        got = f"{activity.shape[0]:,} rows"
        raise InputError("activations", got, f"one for each of the {len(table.cells):,} rows of {table.name}")
    _check_finite(activity)
    rows = _sampled_rows(table)
    cells = table.cells[rows]
    _check_overlaps(table, cells)
    _, counts = np.unique(table.codes[rows], return_counts=True)
    self_pairs = int((counts > 1).sum()) < MIN_REPEATED_CELLS
    try:
        estimate = estimate_salience(
            np.asarray(activity[rows], dtype=np.float64), cells, self_pairs=self_pairs, seed=_SEED
        )
    except InputError as error:
        raise InputError("activations", error.got, error.expected) from None
    return _measured_profile(estimate, rows=len(rows), total_rows=len(table.cells))


def _array(activations: Any) -> np.ndarray:
    array = (read_array if is_path(activations) else as_array)("activations", activations)
    if not array.ndim or array.dtype.kind not in "fiub" or not array.size:
        got = f"{array.dtype.name} of shape {array.shape}"
        raise InputError("activations", got, "(rows, units) of real numbers")
    return array


def _check_finite(activity: np.ndarray) -> None:
    for start in range(0, len(activity), _BLOCK):
        block = activity[start : start + _BLOCK]
        finite = np.isfinite(block.reshape(len(block), -1)).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise InputError("activations", f"a value that is not finite in row {row + 1}", "finite numbers")


def _sampled_rows(table: Observations) -> Int[np.ndarray, " rows"]:
    """Rows to use: all, or up to `MAX_LAYER_ROWS` of each cell of some levels.

    Levels are dropped rather than cells, so that the remaining cells still share levels in every way.
    """
    rng, shape = np.random.default_rng(_SEED), table.space.shape
    codes, cell = np.unique(table.codes, return_inverse=True)
    cells, used = np.stack(np.unravel_index(codes, shape), axis=1), np.ones(len(codes), dtype=bool)
    kept = [rng.permutation(size) for size in shape]
    while used.sum() > MAX_LAYER_CELLS and max(map(len, kept)) > 2:
        axis = max(range(len(kept)), key=lambda axis: len(kept[axis]))
        fewer = max(2, len(kept[axis]) - max(1, len(kept[axis]) // 8))
        used &= ~np.isin(cells[:, axis], kept[axis][fewer:])
        kept[axis] = kept[axis][:fewer]
    rows = rng.permutation(len(cell))
    rows = rows[used[cell[rows]]]
    rows = rows[np.argsort(cell[rows], kind="stable")]
    _, starts, counts = np.unique(cell[rows], return_index=True, return_counts=True)
    rank_in_cell = np.arange(len(rows)) - np.repeat(starts, counts)
    return np.sort(rows[rank_in_cell < MAX_LAYER_ROWS])


def _check_overlaps(table: Observations, cells: Int[np.ndarray, "rows factors"]) -> None:
    distinct, factors = np.unique(cells, axis=0), len(table.space.shape)
    absent = np.setdiff1d(np.arange(2**factors), overlaps(distinct, distinct, factors))
    if absent.size:
        names = [name for axis, name in enumerate(table.space.names) if absent[0] >> (factors - 1 - axis) & 1]
        shared = " and ".join(names) + " alone" if names else "no level at all"
        got = f"{len(distinct)} cells, no two of which share {shared}"
        raise InputError(
            "activations", got, "cells that share levels in every possible way, or fewer factors"
        )
