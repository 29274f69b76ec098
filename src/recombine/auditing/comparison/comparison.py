"""Several models audited on the same table, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from jaxtyping import Float

from recombine._version import __version__
from recombine.auditing.comparison.changed_cells import ChangedCells
from recombine.auditing.comparison.comparison_verdict import comparison_verdict
from recombine.auditing.comparison.paired_difference import PairedDifference
from recombine.auditing.gate import (
    COMPARISON_FORMAT,
    GateResult,
    check_report,
    parse_conditions,
    read_baseline,
    summary_line,
)
from recombine.errors import InputError
from recombine.intervals import Estimate
from recombine.report import Document, Report, plain_level

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


@dataclass(frozen=True, eq=False)
class ModelPair:
    """Two models on the same cells.

    **Attributes:**

    - `first`, `second`: their names; `unseen`, `seen`: the paired differences of their errors, second minus first.
    - `changed`: the cells in which the second is better or worse.
    """

    first: str
    second: str
    unseen: PairedDifference
    seen: PairedDifference
    changed: ChangedCells


@dataclass(frozen=True, eq=False, repr=False)
class AuditComparison(Report):
    """Several models audited on the same table. `print` it; `page()`, `figure()`, `to_dict()` and `cells()` give more.

    **Attributes:**

    - `reports`: an [`recombine.auditing.AuditReport`][] by model, each with all of its findings.
    - `pairs`: every pair of models that have predictions: paired differences with intervals, which are corrected for
        the number of pairs, and the cells that changed.
    - `errors`: by model, the error of every cell on which models are compared; `unseen`, `seen`: their means.
    - `notes`: assumptions, and what was left out; `gate`: what a gate decided, if it was run.

    ```python
    >>> import numpy as np
    >>> from recombine import audit
    >>> a, b = np.indices((6, 6)).reshape(2, -1)
    >>> seen, y = (a + b) % 3 > 0, 2.0 * a + b
    >>> both = audit(
    ...     factors={"a": a, "b": b}, seen=seen, target=y, prediction={"v1": np.where(seen, y, 2.0 * a), "v2": y}
    ... )
    >>> print(both.verdict)
    v2 is better than v1 on unseen combinations: error 0 against 9.2, difference 9.2 [3.3, 16.1]; on seen ones they \
are the same. v2 composes; v1 does not.
    >>> both.pair("v1", "v2").unseen.better, both.check("v2: does-not-compose").passed
    (True, True)

    ```
    """

    reports: Mapping[str, AuditReport]
    pairs: Sequence[ModelPair]
    errors: Mapping[str, Float[np.ndarray, " cells"]]
    unseen: Mapping[str, Estimate]
    seen: Mapping[str, Estimate]
    notes: Sequence[str]
    gate: GateResult | None = None

    @cached_property
    def verdict(self) -> str:
        """Which model is better, by how much, and which of them compose."""
        return comparison_verdict(self)

    @property
    def first_report(self) -> AuditReport:
        """The first model's report; table and cells are the same in all."""
        return next(iter(self.reports.values()))

    @property
    def ranks(self) -> dict[str, int]:
        """By model: 1 plus the number of models that are better on unseen cells, beyond chance."""
        result = dict.fromkeys(self.errors, 1)
        for pair in self.pairs:
            if pair.unseen.differs:
                result[pair.first if pair.unseen.better else pair.second] += 1
        return result

    def pair(self, first: str, second: str) -> ModelPair:
        """A pair of models by their names, in the order of the reports."""
        for one in self.pairs:
            if (one.first, one.second) == (first, second):
                return one
        listed = ", ".join(f"{one.first} and {one.second}" for one in self.pairs[:12]) or "none"
        raise InputError("pair", (first, second), f"one of the pairs that were compared: {listed}")

    def __repr__(self) -> str:
        return f"AuditComparison({', '.join(self.reports)}: {self.verdict!r})"

    def document(self) -> Document:
        """The comparison as a document, of which the terminal, pages and notebooks show renderings."""
        from recombine.auditing.comparison.comparison_document import comparison_document

        return comparison_document(self)

    def cells(self) -> pl.DataFrame:
        """One row per cell of the table: levels, number of rows, whether it was seen, and every model's error."""
        frame = self.first_report.cells().drop("error")
        columns: dict[str, Any] = {}
        for name, errors in self.errors.items():
            title = f"error {name}"
            while title in frame.columns or title in columns:  # a factor may have any name
                title += "_"
            columns[title] = errors
        return frame.with_columns(**{title: pl.Series(title, values) for title, values in columns.items()})

    def check(
        self, conditions: str | Sequence[str], *, baseline: Any = None, strict: bool = False
    ) -> GateResult:
        """Checks the conditions of a gate for every model; `v2: unseen > 0.3` is about one.

        **Arguments:**

        - `conditions`, `baseline`, `strict`: as `AuditReport.check` takes them. A baseline of several models is
            compared model by model, by name.
        """
        parse_conditions(conditions, models=list(self.reports))  # before anything is compared
        compared = self if baseline is None else self.compared_with(baseline)
        gate = compared.gated(conditions, strict=strict).gate
        assert gate is not None
        return gate

    def gated(self, conditions: str | Sequence[str], *, strict: bool = False) -> AuditComparison:
        """The same comparison, with what a gate decides (`gate`), also in the report of every model."""
        parsed = parse_conditions(conditions, models=list(self.reports), strict=strict)
        since = any(report.since is not None for report in self.reports.values())
        if not since and any(one.needs_baseline for one in parsed):
            raise InputError(
                "baseline", None, "an earlier audit to compare with, since a condition is about it"
            )
        results = {name: check_report(report, parsed, name) for name, report in self.reports.items()}
        reports = {
            name: replace(report, gate=GateResult(tuple(results[name])))
            for name, report in self.reports.items()
        }
        every = tuple(one for of_model in results.values() for one in of_model)
        return replace(self, reports=reports, gate=GateResult(every))

    def compared_with(self, baseline: Any, *, seed: int = 0) -> AuditComparison:
        """The same comparison, with what changed since an earlier audit in the report of every model (`since`).

        **Arguments:**

        - `baseline`: as `AuditReport.compared_with` takes it. One audit is compared with every model, several with the
            models of the same names; others stay without a baseline.
        """
        earlier = read_baseline(baseline)
        reports = {
            name: report if earlier.of(name) is None else report.compared_with(earlier, model=name, seed=seed)
            for name, report in self.reports.items()
        }
        if all(report.since is None for report in reports.values()):
            got = f"{earlier.name} about {', '.join(earlier.audits)}"
            raise InputError("baseline", got, f"an audit of one of the models {', '.join(reports)}")
        return replace(self, reports=reports)

    @property
    def summary(self) -> str:
        """Every model in one line, for a log."""
        return "\n".join(summary_line(report, name) for name, report in self.reports.items())

    def metrics(self) -> dict[str, dict[str, float]]:
        """Finite numbers by name, by model."""
        return {name: report.metrics() for name, report in self.reports.items()}

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        return {
            "format": COMPARISON_FORMAT,
            "verdict": self.verdict,
            "ranks": self.ranks,
            "pairs": [self._pair_dict(pair) for pair in self.pairs],
            "models": {name: report.to_dict() for name, report in self.reports.items()},
            "gate": None if self.gate is None else self.gate.to_dict(),
            "notes": list(self.notes),
            "version": __version__,
        }

    def changed(self, mask: np.ndarray, *, unseen: bool = True) -> list[dict[str, Any]]:
        """Cells of a mask by their levels, either the unseen or the seen ones."""
        cells = self.first_report.by_cell
        index = cells.outside if unseen else cells.inside
        return [self.first_report.table.describe(cells.cells[i]) for i in index[mask[index]]]

    def _pair_dict(self, pair: ModelPair) -> dict[str, Any]:
        def plain(mask: np.ndarray, unseen: bool) -> list[dict[str, Any]]:
            return [
                {name: plain_level(level) for name, level in cell.items()}
                for cell in self.changed(mask, unseen=unseen)
            ]

        return {
            "first": pair.first,
            "second": pair.second,
            "unseen": pair.unseen.to_dict(),
            "seen": pair.seen.to_dict(),
            "cells_worse": {
                "unseen": plain(pair.changed.worse, True),
                "seen": plain(pair.changed.worse, False),
            },
            "cells_better": {
                "unseen": plain(pair.changed.better, True),
                "seen": plain(pair.changed.better, False),
            },
        }
