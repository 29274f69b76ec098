"""What the command line shows of studies, claims and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from recombine.report import Column, Interval, Row, Table, Toned, bracket, duration, number, progress
from recombine.report.content import Tone
from recombine.report.numerals import MISSING
from recombine.runs import Entry, Event, Failed, Finished, Progress, Result, Trial
from recombine.studies.claims import Outcome
from recombine.studies.study import Reproduction

TONES: dict[str, Tone] = {"holds": "good", "fails": "bad", "undecided": "open"}


ALMOST = 0.99
"""The most that a trial counts before it has ended."""


class TrialProgress:
    """A line of progress for every group of trials that has begun; trials count by their estimated cost.

    Trials that the store answers are not part of the work; if it answers all, nothing is shown.

    **Arguments:**

    - `cost`: as in `Study`.
    - `unit`: what a trial is called on the line.
    """

    def __init__(self, cost: Callable[[Trial], float], unit: str = "trials") -> None:
        self._cost, self._unit = cost, unit
        self._display = progress()
        self._work: dict[str, dict[str, float]] = {}
        self._done: dict[str, float] = {}
        self._lines: dict[str, Any] = {}

    def expect(self, groups: Mapping[str, Iterable[Trial]]) -> None:
        """Says which trials there will be, by the label of their line."""
        self._work = {
            label: {trial.key: self._cost(trial) for trial in trials} for label, trials in groups.items()
        }

    def __enter__(self) -> TrialProgress:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Takes note of an event of the executor."""
        trial = event.result.trial if isinstance(event, Finished) else event.trial
        label = next((label for label, work in self._work.items() if trial.key in work), None)
        if label is None:
            return
        work = self._work[label]
        if isinstance(event, Finished) and event.from_store:
            del work[trial.key]
        elif isinstance(event, Progress):
            self._done[trial.key] = min(event.fraction, ALMOST)  # probes come after the last step
        else:
            self._done[trial.key] = float(isinstance(event, Finished | Failed))
        if label not in self._lines:
            if trial.key not in work:
                return
            width = max(map(len, self._work))
            self._lines[label] = self._display.line(f"{label:<{width}}", f"{len(work)} {self._unit}")
        if all(self._done.get(key) == 1.0 for key in work):
            self._lines[label].finish()
        else:
            done = sum(size * self._done.get(key, 0.0) for key, size in work.items())
            self._lines[label].update(done / sum(work.values()))


def measured_text(outcome: Outcome) -> str:
    """The measured number with its spread over seeds, `41 [36, 47]`."""
    found = outcome.verdict
    if found is None:
        return MISSING
    low, high = found.spread
    return bracket(Interval(found.measured, low, high, found.n_seeds if low < high else 1, "range"))


def outcomes_table(outcomes: Sequence[Outcome], *, sources: str = "") -> Table:
    """Claims with source, published value, measured value and verdict; `sources` explains the words of the first."""
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
                    claim.source,
                    claim.published,
                    measured_text(outcome),
                    Toned(word, TONES[outcome.word]),
                ],
                remark=remark,
            )
        )
    columns = [
        Column("#", "right"),
        Column("claim"),
        Column("source"),
        Column("published"),
        Column("measured"),
        Column("verdict"),
    ]
    return Table(columns, rows, caption=sources)


def claim_list(found: Reproduction) -> Table:
    """A study's claims, where each is decided, and the verdicts that the store allows already."""
    rows = []
    for outcome in found.outcomes:
        claim = outcome.claim
        when = (
            f"{claim.decided_at}, on request ({claim.minutes:.0f} min)"
            if claim.on_request
            else claim.decided_at
        )
        known = Toned(outcome.word, TONES[outcome.word]) if outcome.verdict is not None else "–"
        when += " ?" if claim.exploratory else ""
        rows.append(Row([claim.id, claim.statement, claim.source, claim.published, when, known]))
    columns = [
        Column("#", "right"),
        Column("claim"),
        Column("source"),
        Column("published"),
        Column("decided at"),
        Column("so far"),
    ]
    caption = (
        "?: exploratory, the threshold or the direction is ours. "
        f"So far: the verdict of the stored results at scale {found.scale}, – where there are none. "
        f"{found.study.sources}"
    ).strip()
    return Table(columns, rows, caption=caption)


def opening_line(found: Reproduction) -> str:
    """Study, scale, seeds, claims, time."""
    jobs = f"on {found.jobs} process{'es' if found.jobs > 1 else ''}" if found.jobs else "in this process"
    return (
        f"{found.study.name} · scale {found.scale} · {len(found.seeds)} seeds · {len(found.outcomes)} claims · "
        f"{duration(found.seconds)} {jobs}"
    )


def closing_line(found: Reproduction, page: Path | None, store: Path | None = None) -> str:
    """How many claims hold, and where the page is or how to get it."""
    counts = " · ".join(f"{word} {found.count(word)}" for word in ("holds", "fails", "undecided"))
    where = f"table and figures: {page}"
    if page is None:
        options = {
            "--scale": "" if found.scale == "quick" else found.scale,
            "--seed-offset": found.seed_offset or "",
            "--store": store or "",
        }
        words = "".join(f" {name} {value}" for name, value in options.items() if value)
        where = f"figures: recombine report {found.study.name}{words}"
    return f"{counts}        {where}"


def runs_table(entries: Sequence[Entry]) -> Table:
    """The store's listing."""
    rows = [
        Row([entry.key[:8], entry.summary or "damaged", f"{entry.size / 1024:.0f} KiB", entry.created[:16]])
        for entry in entries
    ]
    columns = [Column("key"), Column("trial"), Column("size", "right"), Column("made")]
    return Table(columns, rows)


def result_heading(result: Result) -> str:
    """One result: what, when, where."""
    return f"{result.key}  {result.trial}\n{result.created}  version {result.version}  {result.machine}"


def result_table(result: Result) -> Table:
    """Every value of a result that is one number per seed, and its settings."""
    rows = result.to_rows()
    names = [name for name in rows[0] if name not in {"key", "seed"}]
    columns = [Column("")] + [Column(f"seed {seed}", "right") for seed in result.trial.seeds]
    return Table(columns, [Row([name, *(_shown(row[name]) for row in rows)]) for name in names])


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def data_table(entries: Sequence[Any]) -> Table:
    """The data sets."""
    rows = []
    for entry in entries:
        state = "not here: recombine data fetch " + entry.name
        if entry.folder is not None:
            state = f"{entry.folder} ({'as published' if entry.verified else 'damaged'})"
        rows.append(Row([entry.name, entry.purpose, state]))
    return Table([Column("name"), Column("for"), Column("where")], rows)
