"""Lint: common mistakes in splits, each with a code, the rows concerned and what to do.

| code | problem |
|---|---|
| L1 | test rows whose combination is in training: they do not test new combinations |
| L2 | a level that only test rows have: its cells test a new level, not a new combination |
| L3 | cells with very few training rows |
| L4 | training consists of parts that share no level: nothing transfers from one to another |
| L5 | test rows that are exact copies of training rows |
| L6 | one factor determines another in training, so that either can stand in for the other |
| L7 | levels of a factor that differ only in case or white space, so that one level may count as two |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from recombine.advice.thresholds import FEW_ROWS, MAX_EXAMPLES, TYPICAL_ROWS
from recombine.report import count
from recombine.spaces.cell_numbers import are_among, distinct_numbers
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions

CODES = ("L1", "L2", "L3", "L4", "L5", "L6", "L7")


@dataclass(frozen=True)
class LintFinding:
    """One problem with a split: an `error`, or a `warning` that is worth a look.

    **Attributes:**

    - `message`: what is wrong; `action`: what to do.
    - `rows`: the first rows concerned, counted from 1; `count`: how many there are.
    - `level`: the factor and level concerned, if it is about one.
    """

    code: str
    severity: Literal["error", "warning"]
    message: str
    action: str
    rows: tuple[int, ...] = ()
    count: int = 0
    level: tuple[str, Any] | None = None

    def sentence(self) -> str:
        """The message with the first rows concerned."""
        if not self.rows:
            return self.message
        listed = ", ".join(map(str, self.rows[:3]))
        return (
            f"{self.message} (row{'s' if self.count > 1 else ''} {listed}{', …' if self.count > 3 else ''})"
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "action": self.action,
            "rows": list(self.rows),
            "count": self.count,
        }


def lint(table: Observations, seen: Conjunctions | None = None) -> list[LintFinding]:
    """All problems of a split, by code.

    **Arguments:**

    - `seen`: the conjunctions of the training cells up to at least order 2 (if there are two factors), if known.

    ```python
    >>> from recombine.advice import lint
    >>> from recombine.spaces.observations import observe
    >>> rows = {"a": [0, 0, 1, 2], "b": [0, 1, 0, 1], "train": [True, True, True, False]}
    >>> [(problem.code, problem.rows) for problem in lint(observe(rows, factors=["a", "b"], seen="train"))]
    [('L2', (4,))]

    ```
    """
    if seen is None:
        seen = Conjunctions.of(table.train, table.space.shape, order=min(2, len(table.space.shape)))
    return [
        *_trained_combinations(table),
        *_new_levels(table, seen),
        *_tiny_cells(table),
        *_separate_parts(table, seen),
        *_copies(table),
        *_determined_factors(table, seen),
        *_similar_names(table),
    ]


def unchecked(table: Observations) -> dict[str, str]:
    """The checks that could not be made, by code, each with the reason.

    ```python
    >>> from recombine.advice.lint import unchecked
    >>> from recombine.spaces.observations import observe
    >>> rows = {"a": [0, 0, 1], "b": [0, 1, 0], "photo": [object()] * 3, "train": [True, True, False]}
    >>> unchecked(observe(rows, factors=["a", "b"], seen="train"))
    {'L5': "column 'photo' holds values that cannot be compared"}

    ```
    """
    if not table.not_compared or table.seen.all():
        return {}
    names = [repr(name) for name in table.not_compared]
    if len(names) == 1:
        return {"L5": f"column {names[0]} holds values that cannot be compared"}
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return {"L5": f"columns {listed} hold values that cannot be compared"}


def _rows(mask: np.ndarray) -> tuple[tuple[int, ...], int]:
    numbers = np.flatnonzero(mask)
    return tuple((numbers[:MAX_EXAMPLES] + 1).tolist()), len(numbers)


def _trained_combinations(table: Observations) -> Iterator[LintFinding]:
    codes, n_cells = table.codes, table.space.n_cells
    both = table.test_codes[are_among(table.test_codes, table.train_codes, n_cells)]
    if len(both):
        trained = ~table.seen & are_among(codes, both, n_cells)
        rows, n_rows = _rows(trained)
        n_test = int((~table.seen).sum())
        verb = "has a combination" if n_rows == 1 else "have combinations"
        yield LintFinding(
            "L1",
            "error" if n_rows == n_test else "warning",
            f"{count(n_rows)} of {count(n_test, 'test row')} {verb} that training also has "
            f"({count(len(both), 'cell')}), so {'it does' if n_rows == 1 else 'they do'} not test new combinations",
            "exclude test rows whose combination is in training when you measure generalisation",
            rows,
            n_rows,
        )


def _new_levels(table: Observations, seen: Conjunctions) -> Iterator[LintFinding]:
    levels = seen.of_orders(1, min_order=1).codes
    for axis, factor in enumerate(table.space.factors):
        for level in np.setdiff1d(np.arange(factor.size), levels[axis]):
            mask = table.cells[:, axis] == level
            rows, n_rows = _rows(mask)
            n_cells = len(distinct_numbers(table.codes[mask]))
            cells, verb = count(n_cells, "test cell"), "tests" if n_cells == 1 else "test"
            yield LintFinding(
                "L2",
                "error",
                f"level {factor.levels[level]!r} of {factor.name} never occurs in training: its {cells} {verb} a new "
                "level, not a new combination",
                f"add a training cell with {factor.name} = {factor.levels[level]}, or drop that level",
                rows,
                n_rows,
                (factor.name, factor.levels[level]),
            )


def _tiny_cells(table: Observations) -> Iterator[LintFinding]:
    if (
        int(table.seen.sum()) < TYPICAL_ROWS * len(table.train_codes) // 2
    ):  # the median is below `TYPICAL_ROWS`
        return
    cells, counts = np.unique(table.codes[table.seen], return_counts=True)
    typical = float(np.median(counts))
    if typical >= TYPICAL_ROWS and (counts < FEW_ROWS).any():
        tiny = cells[counts < FEW_ROWS]
        rows, n_rows = _rows(table.seen & are_among(table.codes, tiny, table.space.n_cells))
        example = table.describe(np.unravel_index(int(tiny[0]), table.space.shape))
        levels = ", ".join(f"{name}={level}" for name, level in example.items())
        verb = "has" if len(tiny) == 1 else "have"
        yield LintFinding(
            "L3",
            "warning",
            f"{count(len(tiny), 'training cell')} {verb} fewer than {FEW_ROWS} rows (typical: {typical:g}), such as "
            f"{levels}",
            "collect more rows for cells with few, or treat them as unseen",
            rows,
            n_rows,
        )


def _separate_parts(table: Observations, seen: Conjunctions) -> Iterator[LintFinding]:
    from scipy.sparse.csgraph import connected_components

    # Levels are nodes; a training cell connects all its levels. Parts are the connected components.
    sizes = np.array(table.space.shape)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if len(sizes) < 2:
        return
    pairs = seen.of_orders(2, min_order=2)
    levels = [
        np.unravel_index(codes, sizes[list(subset)])
        for subset, codes in zip(pairs.subsets, pairs.codes, strict=True)
    ]
    edges = [
        np.stack([one + starts[first], other + starts[second]])
        for (first, second), (one, other) in zip(pairs.subsets, levels, strict=True)
        if first == 0
    ]
    ends = np.concatenate(edges, axis=1)
    graph = sparse.coo_array((np.ones(ends.shape[1]), ends), shape=(starts[-1], starts[-1]))
    _, part = connected_components(graph, directed=False)
    used = np.unique(ends)
    parts, part_sizes = np.unique(part[used], return_counts=True)
    if len(parts) > 1:
        smallest = parts[np.argmin(part_sizes)]
        members = [node for node in used if part[node] == smallest]
        names = ", ".join(_level_name(table, int(node), starts) for node in members[:6])
        rows, n_rows = _rows(table.seen & (part[table.cells[:, 0] + starts[0]] == smallest))
        yield LintFinding(
            "L4",
            "warning",
            f"training consists of {len(parts)} separate parts that share no level; the smallest: {names}",
            "add a cell that connects two parts; otherwise nothing transfers from one to the other",
            rows,
            n_rows,
        )


def _level_name(table: Observations, node: int, starts: np.ndarray) -> str:
    axis = int(np.searchsorted(starts, node, side="right")) - 1
    factor = table.space.factors[axis]
    return f"{factor.name}={factor.levels[node - int(starts[axis])]}"


def _copies(table: Observations) -> Iterator[LintFinding]:
    if table.content is None or table.seen.all():
        return
    # Only rows of cells that have training rows and test rows can be copies.
    n_cells = table.space.n_cells
    both = table.test_codes[are_among(table.test_codes, table.train_codes, n_cells)]
    candidates = np.flatnonzero(are_among(table.codes, both, n_cells))
    codes, content = table.codes[candidates], table.content[candidates]
    ordered = np.lexsort((content, codes))  # equal rows next to each other
    changes = (np.diff(codes[ordered]) != 0) | (np.diff(content[ordered]) != 0)
    group = np.concatenate([[0], np.cumsum(changes)])[: len(ordered)]
    seen = table.seen[candidates[ordered]]
    trained = np.bincount(group, weights=seen) > 0
    mask = np.zeros(len(table.seen), dtype=bool)
    mask[candidates[ordered]] = ~seen & trained[group]
    if mask.any():
        rows, n_rows = _rows(mask)
        what = "is an exact copy of a training row" if n_rows == 1 else "are exact copies of training rows"
        yield LintFinding(
            "L5",
            "warning",
            f"{count(n_rows, 'test row')} {what}",
            "remove copies of training rows from the test set",
            rows,
            n_rows,
        )


def _determined_factors(table: Observations, seen: Conjunctions) -> Iterator[LintFinding]:
    n_levels = [len(codes) for codes in seen.of_orders(1, min_order=1).codes]
    pairs = seen.of_orders(2, min_order=2)
    for (a, b), codes in zip(pairs.subsets, pairs.codes, strict=True):
        if min(n_levels[a], n_levels[b]) < 2:
            continue
        # As many pairs as levels: each level of that factor occurs in one pair only.
        if len(codes) == n_levels[a]:
            first, second = a, b
        elif len(codes) == n_levels[b]:
            first, second = b, a
        else:
            continue
        # A level that is in one cell only determines all other factors, and nothing is special about this pair.
        if len(table.train_codes) == n_levels[first] and len(n_levels) > 2:
            continue
        one, other = table.space.factors[first].name, table.space.factors[second].name
        yield LintFinding(
            "L6",
            "warning",
            f"in training, {one} determines {other}: each level of {one} occurs with one level of {other} only",
            f"add cells with other pairs of {one} and {other}; otherwise a model cannot know which of them matters",
        )


def _similar_names(table: Observations) -> Iterator[LintFinding]:
    for axis, factor in enumerate(table.space.factors):
        if factor.name in table.bins:
            continue
        spellings: dict[str, list[int]] = {}
        for index, level in enumerate(factor.levels):
            if isinstance(level, str):
                spellings.setdefault("".join(level.split()).casefold(), []).append(index)
        similar = [indices for indices in spellings.values() if len(indices) > 1]
        if similar:
            rows, n_rows = _rows(
                np.isin(table.cells[:, axis], [index for group in similar for index in group])
            )
            names = ", ".join(repr(factor.levels[index]) for index in similar[0])
            more = f", and {count(len(similar) - 1, 'more such group')}" if len(similar) > 1 else ""
            yield LintFinding(
                "L7",
                "warning",
                f"levels of {factor.name} differ only in case or white space: {names}{more}",
                "write each level in one way; otherwise the spellings count as different levels",
                rows,
                n_rows,
            )
