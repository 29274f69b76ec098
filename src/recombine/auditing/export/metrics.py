"""The numbers of an audit as flat metrics, for whatever keeps track of experiments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from recombine.auditing.gate.quantities import QUANTITY_NAMES, quantity
from recombine.intervals import Estimate

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def report_metrics(report: AuditReport) -> dict[str, float]:
    """Finite numbers by name; what could not be measured is left out. True is 1 and false 0."""
    return {name: float(value) for name, value in _all(report) if isfinite(value)}


def _all(report: AuditReport) -> Iterator[tuple[str, float]]:
    scores = report.scores
    if scores is not None:
        for name, title in QUANTITY_NAMES.items():
            yield from _ends(title, quantity(scores, name))
        yield "label_noise", scores.label_noise
        yield "seen_cells", scores.cells_seen
        yield "unseen_cells", scores.cells_unseen
        for name, estimate in scores.baselines.items():
            yield f"simple_{metric_name(name)}_error", estimate.value  # may contain the name of a factor
    for finding in report.findings:
        if finding.holds is not None:
            yield finding.id if finding.id == "composes" else f"finding_{finding.id}", float(finding.holds)
    outputs = report.by_output
    titles = unique_names([metric_name(name) for name in outputs.names])
    for name, one in zip(titles, outputs.scores, strict=True):
        yield f"output_{name}_unseen_error", one.unseen.value
        yield f"output_{name}_seen_error", one.seen.value
    if report.since is not None:
        yield from _ends("unseen_error_change", report.since.unseen.difference)
        yield from _ends("seen_error_change", report.since.seen.difference)
    if report.gate is not None:
        yield "gate_passed", float(report.gate.passed)


def _ends(name: str, estimate: Estimate) -> Iterator[tuple[str, float]]:
    yield name, estimate.value
    yield f"{name}_low", estimate.low
    yield f"{name}_high", estimate.high


def metric_name(text: str) -> str:
    """A name that every tracker and file system takes: letters, digits, dots, hyphens and underscores.

    ```python
    >>> from recombine.auditing.export.metrics import metric_name
    >>> metric_name("../weight (kg)")
    'weight_kg'

    ```
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text[:100]).strip("._") or "unnamed"


def unique_names(names: list[str]) -> list[str]:
    """The names, with a number where one comes twice."""
    taken: list[str] = []
    for name in names:
        free = name
        number = 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.append(free)
    return taken
