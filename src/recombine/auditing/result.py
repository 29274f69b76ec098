"""What `audit` gives back, and the forms in which it can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recombine.advice import Observations
from recombine.auditing.answers import Answers
from recombine.auditing.calibration import Units
from recombine.auditing.cells import Cells
from recombine.auditing.explanations import Failure
from recombine.auditing.finding import TITLES, Finding
from recombine.auditing.forecast import Forecast
from recombine.auditing.layers import Layers
from recombine.auditing.resampling import Estimate
from recombine.auditing.scores import Scores
from recombine.auditing.treatment import Remedy
from recombine.auditing.trial import Explanation
from recombine.errors import InputError
from recombine.modularity import ModularityReport
from recombine.probes.interaction import InteractionProfile


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport:
    """Everything that `audit` found. `print(report)` is the report; `to_dict`, `page` and `cells` give it otherwise.

    - `verdict`: one sentence; `findings`: all ten, in a fixed order.
    - `scores`: errors on seen and unseen cells with their baselines; `None` if there are no answers to judge.
    - `failure`, `cause`: the rules that were tried on wrong answers, and the one that explains them.
    - `forecast`: what the split alone predicts beside what happened, or a sentence that says why there is none.
    - `layers`, `modularity`, `profile`: what the findings about the inside rest on, if there was any.
    - `units`: what the answers were in, if not in those of the targets: they, and all that rests on them, were brought
        to the targets' units; `as_given`: errors of seen and unseen cells before that.
    - `notes`: what was taken for granted or left out; `trouble`: the traceback of a model that raised.
    """

    table: Observations
    model: str
    framework: str
    verdict: str
    findings: Sequence[Finding]
    remedies: Sequence[Remedy]
    forecast: Forecast | str
    answers: Answers | None
    by_cell: Cells
    scores: Scores | None
    units: Units | None
    as_given: tuple[Estimate, Estimate] | None
    failure: Failure | None
    cause: Explanation | None
    layers: Layers | None
    modularity: ModularityReport | None
    profile: InteractionProfile | None
    notes: Sequence[str]
    trouble: str

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
        found = {one.id: one for one in self.findings}
        if id not in found:
            raise InputError("finding", id, f"one of {', '.join(TITLES)}")
        return found[id]

    def __str__(self) -> str:
        from recombine.auditing.words import text

        return text(self)

    def __repr__(self) -> str:
        return f"AuditReport({self.verdict!r})"

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        from recombine.auditing.plain import as_dict

        return as_dict(self)

    def page(self) -> Any:
        """The report with its pictures, as a `recombine.report.Page`."""
        from recombine.auditing.page import page

        return page(self)

    def cells(self) -> pl.DataFrame:
        """One row per cell of the table: its levels, whether it was seen, and its error."""
        from recombine.auditing.plain import cell_table

        return cell_table(self)

    @property
    def errors(self) -> Mapping[str, Any]:
        """Errors and baselines as plain values."""
        from recombine.auditing.plain import errors

        return errors(self)
