"""The result of an audit, and the forms in which it can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recombine._version import __version__
from recombine.auditing.cells import Cells
from recombine.auditing.conditions import Condition
from recombine.auditing.export import report_metrics
from recombine.auditing.findings import FINDINGS, Finding
from recombine.auditing.gate import (
    AUDIT_FORMAT,
    BaselineChange,
    GateResult,
    cells_to_store,
    check_report,
    compare_with_baseline,
    parse_conditions,
    summary_line,
)
from recombine.auditing.internals.layer_measures import Layers
from recombine.auditing.output_scores import OutputScores
from recombine.auditing.outputs import Outputs
from recombine.auditing.probabilities.calibration import Calibration
from recombine.auditing.probabilities.top_k import TopK
from recombine.auditing.refits import Refits
from recombine.auditing.remedies import Remedy
from recombine.auditing.rules import Failure, RuleResult
from recombine.auditing.scores import Scores
from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.text.part_scores import PartScores
from recombine.auditing.text.text_reading import TextReading
from recombine.auditing.units import Units
from recombine.errors import InputError
from recombine.intervals import Estimate
from recombine.metrics.interaction import InteractionProfile
from recombine.modularity import ModularityReport
from recombine.report import Document, Report, plain_interval, plain_level, plain_number
from recombine.reuse import ReuseReport
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Report):
    """Everything that `audit` found. `print(report)` shows it; `page()`, `figure()`, `to_dict()` and `cells()` give
    more.

    **Attributes:**

    - `verdict`: one or two sentences; `findings`: all eleven, in a fixed order; `remedies`: what to try.
    - `scores`: errors on seen and unseen cells, with baselines; `None` without predictions.
    - `refits`: simple models fitted to the seen cells, and their errors on seen cells that were left out and on unseen
        ones; `conditions`: what separates right from wrong unseen cells.
    - `by_output`: the scores of each output, if there are several quantities. If the model fails in only some of them,
        the rest of the report is about those.
    - `failure`, `cause`: the rules that were tested on the errors, and the one that explains them.
    - `forecast`: what the split alone predicts, compared with what happened; or why there is no forecast.
    - `outputs`, `by_cell`: targets and predictions, by row and by cell.
    - `layers`, `modularity`, `profile`: the measurements inside the model, where there are any; `reuse`: what
        finetuning kept, if the model before it was passed.
    - `units`: the units of the predictions, if not those of the targets: they were converted before anything else;
        `as_given`: errors on seen and unseen cells before that.
    - `text`: free-text answers as they were written, if predictions are text; `parts`: how often they get each factor
        right, if that was asked.
    - `calibration`, `top_k`: of scores of classes, if predictions are scores.
    - `notes`: assumptions, and what was left out; `model_error`: the traceback of a model that raised.
    - `all_outputs`: the outputs before those in which the model composes were left out.
    - `since`: what changed since a baseline (`compared_with`); `gate`: what a gate decided, if it was run.
    """

    table: Observations
    model: str
    framework: str
    verdict: str
    findings: Sequence[Finding]
    remedies: Sequence[Remedy]
    forecast: SplitForecast | str
    outputs: Outputs | None
    by_cell: Cells
    scores: Scores | None
    refits: Refits
    conditions: Sequence[Condition]
    by_output: OutputScores
    units: Units | None
    as_given: tuple[Estimate, Estimate] | None
    failure: Failure | None
    cause: RuleResult | None
    layers: Layers | None
    modularity: ModularityReport | None
    profile: InteractionProfile | None
    reuse: ReuseReport | None
    notes: Sequence[str]
    model_error: str
    all_outputs: Outputs | None = None
    since: BaselineChange | None = None
    gate: GateResult | None = None
    text: TextReading | None = None
    parts: PartScores | None = None
    calibration: Calibration | None = None
    top_k: Sequence[TopK] = ()

    def finding(self, id: str) -> Finding:
        """One finding by its id, such as `"composes"`.

        ```python
        >>> from recombine import audit
        >>> table = {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 1, 2, 0, 1, 2, 0, 1, 2]}
        >>> y = [0.0, 1, 2, 10, 11, 12, 20, 21, 22]
        >>> report = audit(table, factors=["a", "b"], seen=[True] * 8 + [False], target=y, prediction=y)
        >>> report.finding("composes").estimate.value
        1.0

        ```
        """
        by_id = {one.id: one for one in self.findings}
        if id not in by_id:
            raise InputError("finding", id, f"one of {', '.join(FINDINGS)}")
        return by_id[id]

    def __repr__(self) -> str:
        return f"AuditReport({self.verdict!r})"

    def document(self) -> Document:
        """The report as a document, of which the terminal, pages and notebooks show renderings."""
        from recombine.auditing.report import audit_document

        return audit_document(self)

    def check(
        self, conditions: str | Sequence[str], *, baseline: Any = None, strict: bool = False
    ) -> GateResult:
        """Checks the conditions of a gate, each of which fails it if it holds.

        A comparison holds if the whole 95% interval is on that side of the number, so that noise does not fail a gate.

        **Arguments:**

        - `conditions`: with commas between them: findings (`does-not-compose`, `shortcut`, ...), `undecided`,
            `model-error`; comparisons of `unseen`, `seen`, `unseen/seen`, `gap`, `transfer` and `skill` with a number;
            `any output` before a comparison; with a baseline, `worse` or `worse > 0.05`. `estimate:` before a
            comparison makes it about the estimate.
        - `baseline`: an earlier audit: a JSON file, what `to_dict()` returned, or a report.
        - `strict`: all comparisons are about estimates.

        ```python
        >>> import numpy as np
        >>> from recombine import audit
        >>> a, b = np.indices((6, 6)).reshape(2, -1)
        >>> seen, y = (a + b) % 3 > 0, a * 2.0 + b
        >>> report = audit(factors={"a": a, "b": b}, seen=seen, target=y, prediction=np.where(seen, y, a))
        >>> gate = report.check("transfer < 0.9, estimate: seen > 100")
        >>> gate.passed, [str(one.condition) for one in gate.failed]
        (False, ['transfer < 0.9'])

        ```
        """
        parsed = parse_conditions(conditions, strict=strict)
        report = self if baseline is None else self.compared_with(baseline)
        if report.since is None and any(one.needs_baseline for one in parsed):
            raise InputError(
                "baseline", None, "an earlier audit to compare with, since a condition is about it"
            )
        return GateResult(tuple(check_report(report, parsed)))

    def gated(self, conditions: str | Sequence[str], *, strict: bool = False) -> AuditReport:
        """The same report, with what a gate decides (`gate`), which its page then shows; see `check`."""
        return replace(self, gate=self.check(conditions, strict=strict))

    def compared_with(self, baseline: Any, *, model: str = "", seed: int = 0) -> AuditReport:
        """The same report, with what changed since an earlier audit of a table with the same factors (`since`).

        **Arguments:**

        - `baseline`: a JSON file that `--json` wrote, what `to_dict()` returned, or an earlier report.
        - `model`: which of its models, if the baseline has several.
        """
        return replace(self, since=compare_with_baseline(self, baseline, model=model, seed=seed))

    @property
    def summary(self) -> str:
        """The audit in one line, for a log."""
        return summary_line(self)

    def metrics(self) -> dict[str, float]:
        """Finite numbers by name, for an experiment tracker: `mlflow.log_metrics(report.metrics())`.

        ```python
        >>> from recombine import audit
        >>> table = {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 1, 2, 0, 1, 2, 0, 1, 2]}
        >>> y = [0.0, 1, 2, 10, 11, 12, 20, 21, 22]
        >>> report = audit(table, factors=["a", "b"], seen=[True] * 8 + [False], target=y, prediction=y)
        >>> report.metrics()["unseen_error"], report.metrics()["transfer"]
        (0.0, 1.0)

        ```
        """
        return report_metrics(self)

    def cells(self) -> pl.DataFrame:
        """One row per cell of the table: its levels, its number of rows, whether it was seen, and its error."""
        cells = self.by_cell
        error = np.full(len(cells.cells), np.nan) if self.outputs is None else cells.error
        columns: dict[str, Any] = {
            factor.name: pl.Series(factor.levels).gather(cells.cells[:, axis])
            for axis, factor in enumerate(self.table.space.factors)
        }
        return pl.DataFrame(
            columns | {"rows": cells.rows, "seen": cells.seen, "familiar": cells.familiar, "error": error}
        )

    @property
    def errors(self) -> Mapping[str, Any]:
        """Errors on seen and unseen cells, and of the baselines on unseen cells, as plain values."""
        scores = self.scores
        if scores is None:
            return {"measure": None, "seen": None, "unseen": None, "baselines": {}}
        units, as_given = self.units, self.as_given
        return {
            "measure": scores.measure,
            "weighting": scores.weighting,
            "seen": _estimate(scores.seen),
            "unseen": _estimate(scores.unseen),
            "unseen_over_seen": _estimate(scores.ratio),
            "wrong": _estimate(scores.wrong),
            "transfer": _estimate(scores.transfer),
            "label_noise": plain_number(scores.label_noise),
            "by_output": [
                {
                    "name": name,
                    "seen": _estimate(one.seen),
                    "unseen": _estimate(one.unseen),
                    "composes": one.composes,
                }
                for name, one in zip(self.by_output.names, self.by_output.scores, strict=True)
            ],
            "baselines": {name: _estimate(one) for name, one in scores.baselines.items()},
            "constant_on_seen": plain_number(scores.constant_seen),
            "units": None if units is None else {"factor": units.factor, "offset": units.offset},
            "as_given": None
            if as_given is None
            else {"seen": _estimate(as_given[0]), "unseen": _estimate(as_given[1])},
            "cells": {"seen": scores.cells_seen, "unseen": scores.cells_unseen},
            "seen_rows_held_out": scores.held_out,
        }

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        forecast = self.forecast
        return {
            "format": AUDIT_FORMAT,
            "verdict": self.verdict,
            "findings": [one.to_dict() for one in self.findings],
            "errors": self.errors,
            "refits": [
                {"name": one.name, "held_out": _estimate(one.held_out), "unseen": _estimate(one.unseen)}
                for one in self.refits.models
            ],
            "conditions": [one.to_dict() for one in self.conditions],
            "advice": forecast if isinstance(forecast, str) else forecast.to_dict(),
            "remedies": [one.to_dict() for one in self.remedies],
            "table": self.table.name,
            "model": self.model,
            "framework": self.framework,
            "version": __version__,
            "rows": len(self.table.cells),
            "factors": {f.name: [plain_level(level) for level in f.levels] for f in self.table.space.factors},
            "classes": [plain_level(one) for one in self.outputs.classes] if self.outputs else [],
            "layers": [] if self.layers is None else _layers(self.layers, self.table.space.names),
            "modularity": None if self.modularity is None else self.modularity.to_dict(),
            "interaction": None if self.profile is None else self.profile.to_dict(),
            "reuse": None if self.reuse is None else self.reuse.to_dict(),
            "parts": None if self.parts is None else self.parts.to_dict(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "top_k": [one.to_dict() for one in self.top_k],
            "notes": list(self.notes),
            "traceback": self.model_error or None,
            "baseline": None if self.since is None else self.since.to_dict(),
            "gate": None if self.gate is None else self.gate.to_dict(),
            "cells": cells_to_store(self),
        }


def _estimate(one: Estimate) -> dict[str, Any]:
    return {"estimate": plain_number(one.value), "interval": plain_interval(*one.pair)}


def _layers(layers: Layers, names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": layer.name,
            "units": layer.units,
            "readable": {
                name: plain_number(float(one)) for name, one in zip(names, layer.readable, strict=True)
            },
            "factorisation": _estimate(layer.factorisation),
            "volume_gap": _estimate(layer.volume_gap),
            "salience_by_order": None
            if layer.salience is None
            else [plain_number(float(one)) for one in layer.salience.order_shares],
        }
        for layer in layers
    ]
