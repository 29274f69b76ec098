"""How much memory and time the advice takes, so that tables that take too much are refused beforehand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError
from recombine.theory import Conjunctions, grid_rank
from recombine.theory.determinacy import CHUNK
from recombine.theory.retention import BLOCK, FEATURE_ORDER, feature_order, uses_exact_kernel

MAX_KERNEL_FACTORS = 16
"""Factors whose sets have kernels: 2^16 similarities take a second, 2^20 a minute."""
MAX_WORK = 50_000_000
"""Cells of interest times sets of factors; every set of every cell is looked up, which takes about a minute here."""
MAX_EFFECTS = 8000
"""Effects that the forecast solves for at once, for three kernels; 8000 take half a minute on one core, and the time
grows with their cube."""
DEFAULT_FREE = 4 * 2**30
"""Bytes that are assumed to be free where the system does not say."""
_BASES, _CHUNKS = 4.5, 3.0
"""Copies of the basis, and of the rows eliminated together, that elimination holds at its peak (measured)."""


def check_factors(factors: int) -> None:
    """Refuses more factors than there is memory or time for: kernels have a number for every set of factors."""
    if factors > MAX_KERNEL_FACTORS:
        expected = f"fewer factors, at most {MAX_KERNEL_FACTORS}: forecasts need a similarity for every set of factors"
        raise InputError("factors", f"{factors} factors", expected)
    kernels, free = 8.0 * (factors + 6) * 2**factors, free_memory()
    if kernels > free:
        reason = f"the similarities of all sets of factors take {_size(kernels)}, {_size(free)} are free"
        raise InputError("factors", f"{factors} factors", f"fewer factors: {reason}")


def check_memory(
    train: Int[np.ndarray, "train factors"],
    n_targets: int,
    sizes: Sequence[int],
    orders: Sequence[int],
    *,
    seen: Conjunctions | None = None,
) -> None:
    """Refuses what would not fit into the memory that is free, and says what would.

    **Arguments:**

    - `seen`: the conjunctions of the training cells, if they are known.
    """
    free, max_order = free_memory(), max(orders)
    work = n_targets * _sets(sizes, max_order)
    if work > MAX_WORK:
        got = f"{n_targets:,} cells of interest and {_sets(sizes, max_order):,} sets of factors"
        way = "interest='table' (--interest table) for cells that have rows, a lower order, or fewer factors"
        raise InputError("interest", got, f"{way}: their product must not exceed {MAX_WORK:,}")
    cells = n_targets * (16 * len(sizes) + 4 * _sets(sizes, max_order) + 80.0)
    rows = len(train) * 24.0 * _sets(sizes, max_order)
    designs = {order: elimination(sizes, order, len(train) + n_targets) for order in orders}
    for order, design in sorted(designs.items()):
        if design + rows + cells <= free:
            continue
        if cells > design:
            got = f"{n_targets:,} cells of interest"
            way = "interest='table' (--interest table) for cells that have rows, or fewer factors"
            raise InputError("interest", got, f"{way}: they take {_size(cells)}, {_size(free)} are free")
        lower = f"order {order - 1} (--order {order - 1}), or " if order > 1 else ""
        way = f"{lower}factors with fewer levels in all"
        effects = grid_rank(sizes, order)
        reason = f"{effects:,} effects take {_size(design)}, {_size(free)} are free"
        raise InputError("order", order, f"{way}: {reason}")
    levels = f"{len(sizes)} factors of {'/'.join(map(str, sizes))} levels"
    solving = 0 if uses_exact_kernel(len(train), n_targets) else solved_effects(train, sizes, seen)
    if solving > MAX_EFFECTS:
        reason = f"the forecast would solve for {solving:,} effects, at most {MAX_EFFECTS:,} are feasible"
        raise InputError("factors", levels, f"fewer levels in all: {reason}")
    solved = forecast(train, n_targets, sizes, seen)
    if solved + rows + cells > free:
        reason = f"the forecast takes {_size(solved + rows + cells)}, {_size(free)} are free"
        raise InputError("factors", levels, f"fewer levels in all: {reason}")


def elimination(sizes: Sequence[int], order: int, cells: int) -> float:
    """Bytes to decide what up to `cells` cells determine at one order; see `recombine.theory.elimination.Echelon`.

    A basis of rank r is stored in the other `width - r` columns, so half of the full rank is the worst case.
    """
    if order >= len(sizes):
        return 0.0
    width = grid_rank(sizes, order)
    rank = min(cells, width // 2)
    return 8 * (_BASES * rank * (width - rank) + _CHUNKS * CHUNK * width)


def forecast(
    train: np.ndarray, n_targets: int, sizes: Sequence[int], seen: Conjunctions | None = None
) -> float:
    """Bytes to forecast the leak; see `recombine.theory.retention`."""
    if uses_exact_kernel(len(train), n_targets):
        return 24.0 * len(train) * (len(train) + BLOCK)
    effects = solved_effects(train, sizes, seen)
    return effects * (12.0 * effects + 8 * BLOCK)


def solved_effects(train: np.ndarray, sizes: Sequence[int], seen: Conjunctions | None = None) -> int:
    """Levels and combinations of levels whose effects the forecast of the leak solves for."""
    if seen is None:
        seen = Conjunctions.of(train, sizes, order=min(FEATURE_ORDER, len(sizes)))
    return int(seen.of_orders(feature_order(train, sizes, seen), min_order=1).starts[-1])


def free_memory() -> float:
    """Bytes that can be allocated without swapping, as far as the system says."""
    known = [DEFAULT_FREE]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")] or known
    except OSError:
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2]
    try:  # a container may have less than its machine
        limit, used = (
            Path("/sys/fs/cgroup", name).read_text(encoding="ascii")
            for name in ("memory.max", "memory.current")
        )
        stat = Path("/sys/fs/cgroup/memory.stat").read_text(encoding="ascii").split()
        cache = sum(int(stat[stat.index(name) + 1]) for name in ("active_file", "inactive_file"))
        known += [max(0, int(limit) - int(used) + cache)] if limit.strip().isdecimal() else []
    except (OSError, ValueError):
        pass
    return float(min(known))


def _sets(sizes: Sequence[int], order: int) -> int:
    return sum(comb(len(sizes), k) for k in range(order + 1))


def _size(amount: float) -> str:
    return f"{amount / 2**30:,.1f} GiB"
