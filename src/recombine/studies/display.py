"""What the command line shows of studies, claims and results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from recombine.report import Column, Row, Table, Toned, duration, number, progress, table_text
from recombine.report.content import Tone
from recombine.runs import Entry, Event, Failed, Finished, Progress, Result, Started, Trial
from recombine.studies.claims import Outcome
from recombine.studies.study import Reproduction, Study

TONES: dict[str, Tone] = {"holds": "good", "fails": "bad", "undecided": "open"}


class StudyProgress:
    """One line of progress for a whole study, weighted by the estimated cost of its trials."""

    def __init__(self, study: Study, label: str = "") -> None:
        self._cost, self._label = study.cost, label or study.name
        self._display = progress()
        self._done: dict[str, float] = {}
        self._size: dict[str, float] = {}
        self._line: Any = None

    def expect(self, trials: Iterable[Trial]) -> None:
        """Says which trials there will be."""
        self._size = {trial.key: self._cost(trial) for trial in trials}

    def __enter__(self) -> StudyProgress:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._line is not None and kind is None:
            self._line.finish()
        self._display.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Takes note of an event of the executor."""
        trial = event.result.trial if isinstance(event, Finished) else event.trial
        if isinstance(event, Finished) and event.from_store:
            self._size.pop(trial.key, None)  # answered at once: not part of the work
            return
        if self._line is None and self._size:
            self._line = self._display.line(self._label, f"{len(self._size)} trials")
        fraction = {Started: 0.0, Finished: 1.0, Failed: 1.0}.get(type(event))
        self._done[trial.key] = event.fraction if isinstance(event, Progress) else float(fraction or 0.0)
        total = sum(self._size.values())
        if self._line is not None and total:
            self._line.update(sum(self._size.get(k, 0.0) * f for k, f in self._done.items()) / total)


def measured_text(outcome: Outcome) -> str:
    """The measured number with its spread over seeds, `41 [36, 47]`."""
    found = outcome.verdict
    if found is None or not np.isfinite(found.measured):
        return "–"
    low, high = found.spread
    middle = number(found.measured)
    return middle if low == high else f"{middle} [{number(low)}, {number(high)}]"


def outcomes_table(outcomes: Sequence[Outcome], *, remarks: bool = True) -> Table:
    """Claims with published value, measured value and verdict."""
    rows = []
    for outcome in outcomes:
        claim = outcome.claim
        word = outcome.word + (" (exploratory)" if claim.exploratory and outcome.word != "undecided" else "")
        remark = ""
        if outcome.word == "fails" and outcome.verdict is not None:
            remark = outcome.verdict.detail
        elif outcome.word == "undecided":
            remark = outcome.why
        rows.append(
            Row(
                [
                    claim.id,
                    claim.statement,
                    claim.published,
                    measured_text(outcome),
                    Toned(word, TONES[outcome.word]),
                ],
                remark=remark if remarks else "",
            )
        )
    columns = [
        Column("#", "right"),
        Column("claim"),
        Column("published"),
        Column("measured"),
        Column("verdict"),
    ]
    return Table(columns, rows)


def claims_table(outcomes: Sequence[Outcome]) -> str:
    """The same as text."""
    return table_text(outcomes_table(outcomes))


def claim_list(study: Study) -> str:
    """A study's claims before anything is run."""
    rows = []
    for claim in study.claims:
        when = (
            f"{claim.decided_at}, on request ({claim.minutes:.0f} min)"
            if claim.on_request
            else claim.decided_at
        )
        rows.append(
            Row(
                [
                    claim.id,
                    claim.statement,
                    claim.source,
                    claim.published,
                    when + (" ?" if claim.exploratory else ""),
                ]
            )
        )
    columns = [
        Column("#", "right"),
        Column("claim"),
        Column("source"),
        Column("published"),
        Column("decided at"),
    ]
    return table_text(Table(columns, rows, caption="?: exploratory, the threshold or the direction is ours"))


def opening_line(found: Reproduction) -> str:
    """Study, scale, seeds, claims, time."""
    seeds = max((len(arm.seeds) for arm in found.evidence.values()), default=0)
    jobs = f"{found.jobs} process{'es' if found.jobs > 1 else ''}"
    return (
        f"{found.study.name} · scale {found.scale} · {seeds} seeds · {len(found.outcomes)} claims · "
        f"{duration(found.seconds)} on {jobs}"
    )


def closing_line(found: Reproduction, page: Path | None) -> str:
    """How many claims hold, and where the page is."""
    counts = " · ".join(f"{word} {found.count(word)}" for word in ("holds", "fails", "undecided"))
    where = f"table and figures: {page}"
    if page is None:
        scale = "" if found.scale == "quick" else f" --scale {found.scale}"
        offset = f" --seed-offset {found.seed_offset}" if found.seed_offset else ""
        where = f"figures: recombine report {found.study.name}{scale}{offset}"
    return f"{counts}        {where}"


def runs_table(entries: Sequence[Entry]) -> str:
    """The store's listing."""
    rows = [
        Row([entry.key[:8], entry.summary or "damaged", f"{entry.size / 1024:.0f} KiB", entry.created[:16]])
        for entry in entries
    ]
    columns = [Column("key"), Column("trial"), Column("size", "right"), Column("made")]
    return table_text(Table(columns, rows))


def result_text(result: Result) -> str:
    """One result: settings, then every value that is one number per seed."""
    rows = result.to_rows()
    lines = [
        f"{result.key}  {result.trial}",
        f"{result.created}  version {result.version}  {result.machine}",
        "",
    ]
    names = [name for name in rows[0] if name != "key"]
    columns = [Column("")] + [Column(f"seed {seed}", "right") for seed in result.trial.seeds]
    cells = [Row([name, *(_shown(row[name]) for row in rows)]) for name in names if name != "seed"]
    return "\n".join(lines) + table_text(Table(columns, cells))


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def data_table(entries: Sequence[Any]) -> str:
    """The data sets."""
    rows = []
    for entry in entries:
        state = "not here: recombine data fetch " + entry.name
        if entry.folder is not None:
            state = f"{entry.folder} ({'as published' if entry.verified else 'damaged'})"
        rows.append(Row([entry.name, entry.purpose, state]))
    return table_text(Table([Column("name"), Column("for"), Column("where")], rows))
