"""Calibration of audits: rules on errors without a pattern, intervals of known populations, verdicts near a bound."""

from __future__ import annotations

import multiprocessing
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.one_thread import ONE_THREAD
from recombine import audit
from recombine.auditing.cells import Cells, gather
from recombine.auditing.findings import FINDINGS, AuditEvidence
from recombine.auditing.internals.model_run import ModelRun
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.outputs import Outputs
from recombine.auditing.reading import read_audit_inputs
from recombine.auditing.refits import refit_models
from recombine.auditing.rules import RULES
from recombine.auditing.rules.failure import explains
from recombine.auditing.scores import score
from recombine.auditing.units import in_target_units
from recombine.report import Column, Row, Table, table_text
from recombine.spaces.observations import observe

CAUSES = ("memorisation_leak", "shortcut", "superposition", "additive_only")
CLASSES = (2, 5, 20, 0)
"""Of the tasks; 0 stands for quantities."""
ROWS = (1, 4, 20)
PATTERNLESS = ("errors in random cells", "random predictions", "permuted errors")
ERRORS = ("normal", "skewed", "zero-inflated", "labels")
UNSEEN = (10, 20, 50, 100, 200)
SCORES = ("seen", "unseen", "ratio", "transfer")
BOUNDARY_TABLES, BOUNDARY_SEEDS = 60, 16


def calibration(tables: int = 500, jobs: int = 1, only: Sequence[str] | None = None) -> dict[str, Any]:
    """Runs the three parts, or some of `nulls`, `intervals` and `stability`; prints a table each.

    **Arguments:**

    - `tables`: simulated tables for every kind of task and number of rows, and for every kind of error and number of
        unseen cells.
    """
    os.environ.update(ONE_THREAD)
    parts: dict[str, Callable[[int, Any], dict[str, Any]]] = {
        "nulls": null_rates,
        "intervals": coverages,
        "stability": stabilities,
    }
    results = {}
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for name, part in parts.items():
            if only is None or name in only:
                results[name] = part(tables, pool)
    return results


# ---- nulls -----------------------------------------------------------------------------------------------------------


def null_rates(tables: int, pool: Any) -> dict[str, Any]:
    """How often every rule is declared to explain errors that have no pattern, and how often a cause is named."""
    rows, results = [], {}
    names = [rule.name for rule in RULES]
    for classes in CLASSES:
        for each in ROWS:
            found = pool.map(partial(declared, classes, each), range(tables), chunksize=10)
            counts = Counter(name for one in found for name in one)
            task = f"{classes} classes" if classes else "quantities"
            results[f"{task}, {each} rows"] = {name: counts[name] / tables for name in [*names, "cause"]}
            shares = [
                f"{100 * counts[name] / tables:.1f}" if counts[name] else "" for name in [*names, "cause"]
            ]
            rows.append(Row([task, str(each), *shares]))
    columns = [
        Column("task"),
        Column("rows", "right"),
        *(Column(name, "right") for name in [*names, "any cause"]),
    ]
    caption = (
        f"errors without a pattern: rules declared, and causes named, in % of {tables} tables (at most 2%)"
    )
    print(table_text(Table(columns, rows, caption=caption)), flush=True)
    return results


def declared(classes: int, each: int, seed: int) -> set[str]:
    """The rules that are declared to explain one table without a pattern, and `cause` if a finding names one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evidence = evidence_of(**patternless(classes, each, seed))
        holds = any(FINDINGS[name].measure(evidence).holds is True for name in CAUSES)
    results = () if evidence.failure is None else evidence.failure.results
    return {one.rule.name for one in results if explains(one)} | ({"cause"} if holds else set())


def evidence_of(
    *, target: Any, prediction: Any, kind: Any = None, seed: int = 0, **table: Any
) -> AuditEvidence:
    """What `audit` decides on, without the forecast and the remedies, which take most of the time and decide
    nothing."""
    data = read_audit_inputs(None, target=target, prediction=prediction, **table)
    assert data.target is not None
    assert data.prediction is not None
    outputs, _ = in_target_units(read_outputs(data.target, data.prediction, kind=kind), data.table.seen)
    cells = gather(data.table, outputs)
    refits = refit_models(cells, data.table.space.names, seed=seed)
    return AuditEvidence(
        data,
        cells,
        score(cells, refits),
        refits,
        ModelRun(),
        has_model=False,
        layers=None,
        weights=None,
        slots=None,
        reuse=None,
        seed=seed,
        progress=lambda step, share: None,
    )


def patternless(classes: int, each: int, seed: int) -> dict[str, Any]:
    """A table whose unseen predictions are wrong at random, in one of three ways.

    Rows have some noise if there are several. Targets are sums of effects in half of the tables, else a table of random
    values. Seen predictions are right.
    """
    rng = np.random.default_rng([zlib.crc32(b"patternless"), classes, each, seed])
    cells, sizes, seen = draw_split(rng, int(rng.integers(50, 150)), rng.uniform(0.2, 0.4))
    effects = sum(rng.normal(size=size)[cells[:, i]] for i, size in enumerate(sizes))
    values = effects if rng.random() < 0.5 else rng.normal(size=len(cells))
    how = PATTERNLESS[seed % len(PATTERNLESS)]
    unseen = np.flatnonzero(~seen)
    row = np.repeat(np.arange(len(cells)), each)
    if classes:
        ranks = np.argsort(np.argsort(values + 1e-6 * rng.normal(size=len(values))))
        target = ranks * classes // len(values)
        predicted = target.copy()
        wrong = (target[unseen] + rng.integers(1, classes, size=len(unseen))) % classes
        if how == "errors in random cells":
            predicted[unseen] = np.where(
                rng.random(len(unseen)) < rng.uniform(0.3, 1.0), wrong, target[unseen]
            )
        elif how == "random predictions":
            predicted[unseen] = rng.integers(classes, size=len(unseen))
        else:
            predicted[unseen] = rng.permutation(target[unseen])
        flips = 0.1 if each > 1 and rng.random() < 0.5 else 0.0
        labels = target[row]
        noisy = np.where(
            rng.random(len(row)) < flips, (labels + rng.integers(1, classes, size=len(row))) % classes, labels
        )
        return _arguments(cells, sizes, seen, row, noisy, predicted[row], "classification")
    target = values / values.std()
    numbers = target.copy()
    if how == "errors in random cells":
        hit = rng.random(len(unseen)) < rng.uniform(0.3, 1.0)
        numbers[unseen] += hit * rng.normal(size=len(unseen)) * rng.uniform(0.5, 2.0)
    elif how == "random predictions":
        numbers[unseen] = rng.normal(size=len(unseen))
    else:  # errors of a lookup, each in another cell
        errors = target[rng.choice(np.flatnonzero(seen), size=len(unseen))] - target[unseen]
        numbers[unseen] += rng.permutation(errors) * rng.choice([-1, 1], size=len(unseen))
    spread = 0.2 if each > 1 and rng.random() < 0.5 else 0.0
    noisy_numbers = target[row] + spread * rng.normal(size=len(row))
    return _arguments(cells, sizes, seen, row, noisy_numbers, numbers[row], "regression")


def draw_split(
    rng: np.random.Generator, count: int, share: float
) -> tuple[np.ndarray, tuple[int, ...], np.ndarray]:
    """About so many cells of two or three factors, of which a share is unseen; every level is seen."""
    factors = int(rng.choice([2, 3]))
    side = max(3, round(count ** (1 / factors)))
    sizes = (*[side] * (factors - 1), max(3, round(count / side ** (factors - 1))))
    cells = np.indices(sizes).reshape(factors, -1).T
    while True:
        seen = np.ones(len(cells), dtype=bool)
        seen[rng.choice(len(cells), round(share * len(cells)), replace=False)] = False
        if all(len(np.unique(cells[seen, i])) == size for i, size in enumerate(sizes)):
            return cells, sizes, seen


def _arguments(
    cells: np.ndarray,
    sizes: Sequence[int],
    seen: np.ndarray,
    row: np.ndarray,
    target: np.ndarray,
    predicted: np.ndarray,
    kind: str,
) -> dict[str, Any]:
    factors = {name: cells[row, i] for i, name in zip(range(len(sizes)), "abc", strict=False)}
    return {"factors": factors, "seen": seen[row], "target": target, "prediction": predicted, "kind": kind}


# ---- intervals -------------------------------------------------------------------------------------------------------


def coverages(tables: int, pool: Any) -> dict[str, Any]:
    """How often the 95% intervals of the scores cover the values of the population from which cells are drawn."""
    rows, results = [], {}
    for errors in ERRORS:
        for unseen in UNSEEN:
            covered = np.array(pool.map(partial(covers, errors, unseen), range(tables), chunksize=20))
            shares = covered.mean(axis=0)
            results[f"{errors}, {unseen} unseen cells"] = dict(zip(SCORES, shares.tolist(), strict=True))
            rows.append(Row([errors, str(unseen), *(f"{100 * one:.1f}" for one in shares)]))
    columns = [Column("errors"), Column("unseen cells", "right"), *(Column(name, "right") for name in SCORES)]
    caption = f"coverage of 95% intervals, in % of {tables} tables (93 to 97%)"
    print(table_text(Table(columns, rows, caption=caption)), flush=True)
    return results


def covers(errors: str, unseen: int, seed: int) -> list[bool]:
    """Whether the intervals of one table cover the population's values, in the order of `SCORES`.

    The constant's error, on which `transfer` is based, is that of the table: its targets are given.
    """
    rng = np.random.default_rng([zlib.crc32(errors.encode()), unseen, seed])
    cells, means = population(rng, errors, unseen)
    scores = score(cells)
    constant = float(scores.constant)
    truth = {
        "seen": means[0],
        "unseen": means[1],
        "ratio": means[1] / means[0],
        "transfer": (constant - means[1]) / (constant - means[0]),
    }
    return [bool(getattr(scores, name).low <= truth[name] <= getattr(scores, name).high) for name in SCORES]


def population(rng: np.random.Generator, errors: str, unseen: int) -> tuple[Cells, tuple[float, float]]:
    """Cells with errors from a known population, and its mean error for seen and for unseen cells; twice as many cells
    are seen as unseen."""
    side = int(np.ceil(np.sqrt(3 * unseen)))
    while True:
        code = rng.choice(side * side, size=3 * unseen, replace=False)
        space = np.stack([code // side, code % side], axis=1)
        seen = np.arange(3 * unseen) >= unseen
        if all(np.isin(space[:, i], space[seen, i]).all() for i in (0, 1)):
            break
    means = (float(rng.uniform(0.05, 0.15)), float(rng.uniform(0.15, 0.5)))
    mean = np.where(seen, *means)
    if errors == "labels":
        return _label_population(rng, space, seen, mean), means
    n = len(space)
    unit = rng.normal(size=n)
    if errors == "skewed":
        unit *= np.sqrt(rng.exponential(size=n))
    elif errors == "zero-inflated":
        unit *= (rng.random(n) < 0.3) / np.sqrt(0.3)
    target = rng.normal(size=n)
    return _cells(space, seen, target[:, None], (target + np.sqrt(mean) * unit)[:, None], "regression"), means


def _label_population(
    rng: np.random.Generator, space: np.ndarray, seen: np.ndarray, mean: np.ndarray
) -> Cells:
    """Four rows per cell and four classes; cells differ in how often they are wrong."""
    wrongness = rng.beta(mean, 1 - mean)
    row = np.repeat(np.arange(len(space)), 4)
    label = rng.integers(4, size=len(space))[row]
    wrong = rng.random(len(row)) < wrongness[row]
    said = np.where(wrong, (label + rng.integers(1, 4, size=len(row))) % 4, label)
    return _cells(space[row], seen[row], np.eye(4)[label], np.eye(4)[said], "classification")


def _cells(
    space: np.ndarray, seen: np.ndarray, target: np.ndarray, predicted: np.ndarray, kind: Any
) -> Cells:
    table = observe(factors={"a": space[:, 0], "b": space[:, 1]}, seen=seen)
    classes = tuple(range(target.shape[1])) if kind == "classification" else ()
    return gather(table, Outputs(kind, target, predicted, np.ones(len(seen), dtype=bool), (), classes, ()))


# ---- stability -------------------------------------------------------------------------------------------------------


def stabilities(tables: int, pool: Any) -> dict[str, Any]:
    """How often another resampling seed gives the same verdict, for tables near the boundary."""
    found = pool.map(verdicts, range(BOUNDARY_TABLES), chunksize=1)
    same = [Counter(one).most_common(1)[0][1] for one in found]
    composes = [Counter(said for said, _ in one).most_common(1)[0][1] for one in found]
    total = BOUNDARY_TABLES * BOUNDARY_SEEDS
    results = {
        "tables": BOUNDARY_TABLES,
        "seeds": BOUNDARY_SEEDS,
        "same verdict": sum(composes) / total,
        "same verdict and causes": sum(same) / total,
        "tables with one verdict": sum(one == BOUNDARY_SEEDS for one in composes),
        "unstable": [number for number, one in enumerate(same) if one < BOUNDARY_SEEDS],
    }
    print(
        f"{BOUNDARY_TABLES} tables near the boundary, {BOUNDARY_SEEDS} resampling seeds each: the commonest verdict in "
        f"{results['same verdict']:.1%} of audits (with its causes: {results['same verdict and causes']:.1%}; at least "
        f"98%); always the same verdict in {results['tables with one verdict']} tables",
        flush=True,
    )
    return results


def verdicts(number: int) -> list[tuple[bool | None, tuple[str, ...]]]:
    """The verdict and causes of one table near the boundary, for every resampling seed."""
    arguments = boundary_table(number)
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(BOUNDARY_SEEDS):
            report = audit(**arguments, seed=seed)
            causes = tuple(name for name in CAUSES if report.finding(name).holds is True)
            said.append((report.finding("composes").holds, causes))
    return said


def boundary_table(number: int) -> dict[str, Any]:
    """A model that goes 80 to 97% of the way, where the rest is half chance and half a lookup; labels or quantities."""
    rng = np.random.default_rng([zlib.crc32(b"boundary"), number])
    cells, sizes, seen = draw_split(rng, int(rng.integers(60, 200)), rng.uniform(0.2, 0.4))
    row = np.repeat(np.arange(len(cells)), int(rng.choice([1, 4])))
    values = sum(rng.normal(size=size)[cells[:, i]] for i, size in enumerate(sizes))
    target = values / values.std()
    unseen, way = np.flatnonzero(~seen), rng.uniform(0.8, 0.97)
    distance = np.abs(cells[unseen][:, None] - cells[seen][None]).sum(axis=2)
    copied = target[np.flatnonzero(seen)[distance.argmin(axis=1)]] - target[unseen]
    if number % 2:
        errors = rng.uniform(0, 1) * copied / copied.std() + rng.uniform(0, 1) * rng.normal(size=len(unseen))
        predicted = target.copy()
        predicted[unseen] += errors / np.sqrt((errors**2).mean()) * np.sqrt(1 - way)
        return _arguments(cells, sizes, seen, row, target[row], predicted[row], "regression")
    label = np.digitize(target, np.quantile(target, [1 / 3, 2 / 3]))
    lookup = label[np.flatnonzero(seen)[distance.argmin(axis=1)]]
    other = np.where(rng.random(len(unseen)) < 0.5, lookup, rng.integers(3, size=len(unseen)))
    said = label.copy()
    said[unseen] = np.where(rng.random(len(unseen)) < 1.3 * (1 - way), other, label[unseen])
    return _arguments(cells, sizes, seen, row, label[row], said[row], "classification")
