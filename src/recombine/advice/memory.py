"""How much memory advice takes, so that what does not fit is refused before anything is allocated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np
from jaxtyping import Int

from recombine.advice import leak
from recombine.errors import InputError
from recombine.theory import Conjunctions, grid_rank
from recombine.theory.determinacy import CHUNK

USUAL = 4 * 2**30
"""Bytes that are taken to be free where the system does not say."""
_BASES, _CHUNKS = 4.5, 3.0
"""Copies of the basis, and of the rows that are eliminated at a time, which elimination holds at its peak."""


def check_factors(factors: int) -> None:
    """Refuses more factors than there is room for: kernels have a number for every set of them."""
    kernels, free = 8.0 * (factors + 6) * 2**factors, free_memory()
    if kernels > free:
        reason = f"the similarities of all sets of them take {_size(kernels)}, {_size(free)} are free"
        raise InputError("factors", f"{factors} factors", f"fewer of them: {reason}")


def check_memory(
    train: Int[np.ndarray, "train factors"], n_targets: int, sizes: Sequence[int], orders: Sequence[int]
) -> None:
    """Refuses what would not fit into the memory that is free, and says what would."""
    free, most = free_memory(), max(orders)
    cells = n_targets * (16 * len(sizes) + 4 * _sets(sizes, most) + 80.0)
    rows = len(train) * 24.0 * _sets(sizes, most)
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
    solved = forecast(train, n_targets, sizes)
    if solved + rows + cells > free:
        raise InputError(
            "factors",
            f"{len(sizes)} factors of {'/'.join(map(str, sizes))} levels",
            f"fewer levels in all: the forecast takes {_size(solved + rows + cells)}, {_size(free)} are free",
        )


def elimination(sizes: Sequence[int], order: int, cells: int) -> float:
    """Bytes to decide what up to `cells` cells determine at one order; see `recombine.theory.modular.Echelon`.

    A basis of rank r is held in the other columns only, so the worst is half of the full rank.
    """
    if order >= len(sizes):
        return 0.0
    width = grid_rank(sizes, order)
    rank = min(cells, width // 2)
    return 8 * (_BASES * rank * (width - rank) + _CHUNKS * CHUNK * width)


def forecast(train: np.ndarray, n_targets: int, sizes: Sequence[int]) -> float:
    """Bytes to forecast the leak; see `recombine.advice.leak`."""
    if leak.is_exact(len(train), n_targets):
        return 24.0 * len(train) * (len(train) + leak.BLOCK)
    order = leak.feature_order(train, sizes)
    columns = float(Conjunctions.of(train, sizes, order=order, least=1).starts[-1])
    return columns * (12 * columns + 8 * leak.BLOCK)


def free_memory() -> float:
    """Bytes that can be had without pushing anything out, as far as the system says."""
    known = [USUAL]
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
