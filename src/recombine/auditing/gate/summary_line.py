"""An audit in one line, for a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import count, number

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

_WORDS = {True: "composes", False: "does not compose", None: "undecided"}


def summary_line(report: AuditReport, model: str = "") -> str:
    """The table, the verdict, the errors behind it, what changed since a baseline, and the gate.

    ```python
    >>> from recombine import audit
    >>> table = {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 1, 2, 0, 1, 2, 0, 1, 2]}
    >>> y = [0.0, 1, 2, 10, 11, 12, 20, 21, 22]
    >>> seen = [True] * 6 + [False, True, False]
    >>> report = audit(table, factors=["a", "b"], seen=seen, target=y, prediction=y, kind="regression")
    >>> report.summary
    'recombine audit: composes (unseen 0 vs seen 0, 2 unseen cells)'

    ```
    """
    names = [name for name in (report.table.name, model) if name and name != "the table"]
    parts = [_verdict(report)]
    if report.since is not None:
        parts.append(f"since {report.since.name}: {_change(report)}")
    if report.gate is not None:
        parts.append(report.gate.summary)
    line = ": ".join(["recombine audit", *names, "; ".join(parts)])
    return "".join(one if one.isprintable() else " " for one in line)


def _verdict(report: AuditReport) -> str:
    word, scores = _WORDS[report.finding("composes").holds], report.scores
    if report.model_error:
        return f"{word} (the model raised an error)"
    if scores is None:
        return f"{word} (no predictions)"
    errors = [
        f"{name} {number(one.value)}"
        for name, one in (("unseen", scores.unseen), ("seen", scores.seen))
        if np.isfinite(one.value)
    ]
    return f"{word} ({', '.join(filter(None, [' vs '.join(errors), count(scores.cells_unseen, 'unseen cell')]))})"


def _change(report: AuditReport) -> str:
    assert report.since is not None
    parts = []
    for name, one in (("unseen", report.since.unseen), ("seen", report.since.seen)):
        if one.differs:
            parts.append(
                f"{name} {'better' if one.better else 'worse'} by {number(abs(one.difference.value))}"
            )
    return ", ".join(parts) or "no change beyond noise"
