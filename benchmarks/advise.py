"""Advice at scale: a million rows, compared with the dense rank that a user would write."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from benchmarks.measure import Row
from recombine.advice import Advice, advise
from recombine.advice.memory_use import elimination
from recombine.errors import InputError
from recombine.theory import Determinacy, grid_rank

SECONDS, ONE_MORE_CELL, GIBIBYTES = 15, 1, 2
"""The goals for a million rows, 6 factors of 20 levels, orders 1 and 2, and 100,000 cells of interest: seconds for the
advice and for one more cell, and the peak memory of the process."""
LABELS = ("no labels", "quantities", "2 classes", "20 classes")
"""The goals are for tables without labels; the others are reported."""
ROWS, FACTORS, LEVELS, TARGETS = 1_000_000, 6, 20, 100_000


def example(rows: int, factors: int, levels: int, targets: int) -> dict[str, np.ndarray]:
    """Random rows without some pairs of levels of the first two factors, and test rows that have them."""
    rng = np.random.default_rng(0)
    train = rng.integers(0, levels, size=(rows, factors))
    hidden = levels // 4
    train = train[(train[:, 0] >= hidden) | (train[:, 1] >= hidden)]
    test = rng.integers(0, levels, size=(targets, factors))
    test[: targets // 2, :2] %= hidden
    cells = np.concatenate([train, test])
    columns = {f"f{axis}": cells[:, axis] for axis in range(factors)}
    return columns | {"train": np.arange(len(cells)) < len(train)}


def at_scale() -> list[Row]:
    """The goal, how the cost grows, and the dense rank for tables that are small enough for it.

    Work grows with the cube of the number of effects, so ten factors are shown with 8 levels each (2,276 effects at
    order 2); ten of 20 levels would have 16,436, three times as many as the goal.
    """
    rows = [row for labels in LABELS for row in _goals(labels)]
    rows += [_advice(n, FACTORS, targets=n) for n in (1_000, 10_000, 100_000)]
    rows += [_advice(100_000, factors, levels=8, targets=10_000) for factors in (2, 4, 6, 8, 10)]
    rows += [_advice(100_000, factors, targets=10_000) for factors in (2, 4, 8)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows.append(Row("all of these", "GiB at the peak", peak, None, False, {}))
    rows.append(_advice(100_000, 10, levels=60, targets=10_000))
    return [*rows, *(_compared_with_dense(levels) for levels in (4, 6, 8))]


def _goals(labels: str) -> list[Row]:
    """Seconds and memory for a million rows, in a process of its own; imports do not count."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.advise", labels], capture_output=True, text=True, check=True
    )
    seconds, processor, more, more_processor, peak = map(float, done.stdout.split()[-5:])
    name, goal = f"advise: {ROWS:,} rows, {FACTORS} factors of {LEVELS} levels, {labels}", labels == LABELS[0]
    return [
        Row(name, "seconds", seconds, SECONDS if goal else None, False, {"CPU s": processor}),
        Row(name, "one more cell s", more, ONE_MORE_CELL if goal else None, False, {"CPU s": more_processor}),
        Row(name, "peak GiB", peak, GIBIBYTES if goal else None, False, {}),
    ]


def run(labels: str) -> None:
    """Advice on a million rows, then one more cell; prints seconds and CPU seconds of both, and GiB."""
    _labelled(labels, 1000)()  # imports what is imported on demand
    work, times = _labelled(labels, ROWS), []
    start, processor = time.perf_counter(), time.process_time()
    advice = work()
    times += [time.perf_counter() - start, time.process_time() - processor]
    start, processor = time.perf_counter(), time.process_time()
    advice.with_cells(advice.targets[:1])
    times += [time.perf_counter() - start, time.process_time() - processor]
    print(*times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def _labelled(labels: str, rows: int) -> Callable[[], Advice]:
    """The advice on a table without labels, with additive quantities, or with classes."""
    table = example(rows, FACTORS, LEVELS, TARGETS * rows // ROWS)
    names = [f"f{axis}" for axis in range(FACTORS)]
    effects = np.random.default_rng(1).normal(size=(FACTORS, LEVELS))
    sums = np.sum([effects[axis][table[name]] for axis, name in enumerate(names)], axis=0)
    target = {
        "no labels": None,
        "quantities": sums,
        "2 classes": np.where(sums > 0, "above", "below"),
        "20 classes": np.array([f"class {one}" for one in (table["f0"] + table["f1"]) % 20]),
    }[labels]
    return lambda: advise(table, factors=names, seen="train", orders=(1, 2), interest="table", target=target)


def _advice(rows: int, factors: int, *, targets: int, levels: int = LEVELS) -> Row:
    """Advice from scratch, and the time for one more cell; or how soon it is refused for lack of memory."""
    table = example(rows, factors, levels, targets)
    names = [f"f{axis}" for axis in range(factors)]
    name = f"advise: {rows:,} rows, {factors} factors of {levels} levels, orders 1 and 2"
    started = time.perf_counter()
    try:
        advice = advise(table, factors=names, seen="train", orders=(1, 2), interest="table")
    except InputError:
        seconds = time.perf_counter() - started
        needed = elimination((levels,) * factors, 2, rows + targets) / 2**30
        return Row(name, "refused after s", seconds, None, False, {"GiB needed": needed})
    seconds = time.perf_counter() - started
    detail = {"effects at order 2": float(grid_rank(advice.table.space.shape, min(2, factors)))}
    detail |= {"cells of interest": len(advice.targets)}
    detail |= {f"additions at order {order}": len(f.additions.cells) for order, f in advice.orders.items()}
    if len(advice.targets):
        started = time.perf_counter()
        advice.with_cells(advice.targets[:1])
        detail["one more cell s"] = time.perf_counter() - started
    return Row(name, "seconds", seconds, None, False, detail)


def _compared_with_dense(levels: int) -> Row:
    """Determinacy of 50 cells at order 2, four factors, compared with the rank of dense floating-point matrices."""
    sizes = (levels,) * 4
    rng = np.random.default_rng(1)
    cells = np.indices(sizes).reshape(4, -1).T
    seen = rng.random(len(cells)) < 0.5
    targets = cells[~seen][:50]
    started = time.perf_counter()
    known = Determinacy(sizes, 2)
    known.add(cells[seen])
    ours = known.determined(targets)
    middle = time.perf_counter()
    dense = _dense_determined(cells[seen], targets, sizes)
    ended = time.perf_counter()
    if not np.array_equal(ours, dense):
        raise RuntimeError("the dense rank disagrees")
    detail = {"dense s": ended - middle, "ours s": middle - started}
    name = f"50 cells of 4 factors of {levels} levels: dense NumPy rank / ours"
    return Row(name, "times faster", (ended - middle) / (middle - started), 1, True, detail)


def _dense_determined(train: np.ndarray, targets: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    def design(cells: np.ndarray) -> np.ndarray:
        blocks = [np.ones((len(cells), 1))]
        blocks += [np.eye(n)[cells[:, i]] for i, n in enumerate(sizes)]
        for i, j in combinations(range(len(sizes)), 2):
            blocks.append(np.eye(sizes[i] * sizes[j])[cells[:, i] * sizes[j] + cells[:, j]])
        return np.concatenate(blocks, axis=1)

    known = design(train)
    rank = np.linalg.matrix_rank(known)
    return np.array([np.linalg.matrix_rank(np.vstack([known, row])) == rank for row in design(targets)])


if __name__ == "__main__":
    run(sys.argv[1])
