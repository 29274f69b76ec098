"""A reproduction as a document: the claim table, the figures, and every number behind a verdict.

The terminal shows the table of claims; a page shows all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from recombine._version import __version__
from recombine.intervals import Estimate
from recombine.report import (
    Badge,
    Column,
    Details,
    Document,
    Picture,
    Row,
    Section,
    Table,
    bracket,
    duration,
    machine,
    progress,
)
from recombine.report.document import Block, Tone
from recombine.report.numbers import MISSING
from recombine.studies.claims import Outcome
from recombine.studies.reproduction import Reproduction
from recombine.studies.trial_progress import plural

TONES: dict[str, Tone] = {"holds": "good", "fails": "bad", "undecided": "open"}


def results_document(
    reproduction: Reproduction,
    *,
    more: Sequence[Reproduction] = (),
    figures: bool = True,
    quiet: bool = False,
) -> Document:
    """The document of a study that has been run.

    **Arguments:**

    - `more`: runs of the same study at other scales or with other seeds, each shown in a separate section.
    - `figures`: whether to draw the figures, which only pages show.
    - `quiet`: show no progress while drawing.
    """
    study = reproduction.study
    sections = [Section("", [outcomes_table(reproduction.outcomes, sources=study.sources)])]
    for other in more:
        outcomes = [o for o in other.outcomes if o.verdict is not None and _is_new(o, other, reproduction)]
        if outcomes:
            blocks: list[Block] = [
                outcomes_table(outcomes),
                Details("The numbers behind these verdicts", [_numbers(outcome) for outcome in outcomes]),
            ]
            sections.append(Section(_heading(other, reproduction), blocks, where="page"))
    for tabulation in study.tabulations:
        if all(name in reproduction.evidence for name in tabulation.needs):
            table = tabulation.fill(reproduction.evidence)
            sections.append(Section(tabulation.title, [table], where="page"))
    if figures:
        sections.append(Section("Figures", _pictures(reproduction, quiet), where="page"))
    findings: list[Block] = [f"**{claim.id}** {claim.finding}" for claim in study.claims if claim.finding]
    if findings:
        sections.append(Section("Findings", findings, where="page"))
    numbers: list[Block] = [_numbers(outcome) for outcome in reproduction.outcomes if outcome.verdict]
    if numbers:
        sections.append(Section("The numbers behind the verdicts", numbers, where="page"))
    footer = {
        "Version": __version__,
        "Scale": reproduction.scale,
        "Seeds": ", ".join(map(str, reproduction.seeds)),
        "Machine": machine(),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    if reproduction.jobs:
        footer["Time"] = _time(reproduction)
    return Document(study.title, _lead(reproduction), sections, footer)


def _lead(reproduction: Reproduction) -> str:
    """The paper, how it was run and what came out, in two sentences."""
    n = len(reproduction.outcomes)
    verbs = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "undecided": ("is undecided", "are undecided"),
    }
    counts = ", ".join(
        f"{reproduction.count(word)} {one if reproduction.count(word) == 1 else many}"
        for word, (one, many) in verbs.items()
    )
    run = f"scale {reproduction.scale}, {plural(len(reproduction.seeds), 'seed')}"
    if reproduction.jobs:
        run += f", {_time(reproduction)}"
    return f"{reproduction.study.reference}. Of {plural(n, 'claim')} ({run}), {counts}."


def _time(reproduction: Reproduction) -> str:
    processes = f"{reproduction.jobs} process{'es' if reproduction.jobs > 1 else ''}"
    return f"{duration(reproduction.seconds)} on {processes}"


def _heading(other: Reproduction, reproduction: Reproduction) -> str:
    if other.seed_offset == reproduction.seed_offset:
        return f"At scale {other.scale}"
    return f"With other seeds, scale {other.scale} (seeds {other.seeds[0]} to {other.seeds[-1]})"


def _is_new(outcome: Outcome, other: Reproduction, reproduction: Reproduction) -> bool:
    """Whether another run has other results for a claim; arms without training can be the same at every scale."""
    for name in outcome.claim.needs:
        mine, theirs = reproduction.evidence.get(name), other.evidence[name]
        if mine is None or mine.seeds != theirs.seeds or mine.values.keys() != theirs.values.keys():
            return True
        if not all(np.array_equal(mine[key], theirs[key], equal_nan=True) for key in mine.values):
            return True
    return False


def _pictures(reproduction: Reproduction, quiet: bool) -> list[Block]:
    pictures: list[Block] = []
    study, evidence = reproduction.study, reproduction.evidence
    drawings = [d for d in study.drawings if all(name in evidence for name in d.needs)]
    with progress(quiet=quiet) as display:
        line = display.line("drawing", plural(len(drawings), "figure")) if drawings else None
        for drawing in drawings:
            figure = drawing.draw(evidence)
            caption = f"**{drawing.title}** {drawing.caption}"
            pictures.append(Picture(drawing.name, figure, caption, drawing.title, drawing.form))
            if line is not None:
                line.update(len(pictures) / len(drawings))
        if line is not None:
            line.finish()
    return pictures or ["There is nothing to draw yet: the arms that the figures show have not been run."]


def _numbers(outcome: Outcome) -> str:
    assert outcome.verdict is not None
    return f"**{outcome.claim.id}** {outcome.claim.statement}. {outcome.verdict.detail}"


def outcomes_table(outcomes: Sequence[Outcome], *, sources: str = "") -> Table:
    """Claims with their source, published value, measured value and verdict.

    **Arguments:**

    - `sources`: the caption, which explains the words in the column of sources.
    """
    rows = []
    for outcome in outcomes:
        claim = outcome.claim
        word = outcome.word + (" (exploratory)" if claim.exploratory and outcome.word != "undecided" else "")
        remark = ""
        if outcome.word == "fails" and outcome.verdict is not None:
            remark = outcome.verdict.detail
        elif outcome.word == "undecided":
            remark = outcome.why
        verdict = Badge(word, TONES[outcome.word])
        entries: list[str | Badge] = [
            claim.id,
            claim.statement,
            claim.source,
            claim.published,
            measured_text(outcome),
            verdict,
        ]
        rows.append(Row(entries, remark=remark))
    return Table([*_CLAIM_COLUMNS, Column("measured"), Column("verdict")], rows, caption=sources)


def measured_text(outcome: Outcome) -> str:
    """The measured number with its range over seeds, `41 [36, 47]`."""
    verdict = outcome.verdict
    if verdict is None:
        return MISSING
    low, high = verdict.spread
    return bracket(Estimate(verdict.measured, low, high, n=verdict.n_seeds if low < high else 1))


def claims_table(reproduction: Reproduction) -> Table:
    """A study's claims, the scale that decides each, and the verdicts that the stored results already give."""
    rows = []
    for outcome in reproduction.outcomes:
        claim = outcome.claim
        scale: str = claim.decided_at
        if claim.on_request:
            scale += f", on request ({claim.minutes:.0f} min)"
        if claim.exploratory:
            scale += " ?"
        verdict = Badge(outcome.word, TONES[outcome.word]) if outcome.verdict is not None else MISSING
        rows.append(Row([claim.id, claim.statement, claim.source, claim.published, scale, verdict]))
    caption = (
        "?: exploratory; the threshold or the direction is ours. "
        f"So far: the verdict from the results stored at scale {reproduction.scale}, – if there are none. "
        f"{reproduction.study.sources}"
    ).strip()
    return Table([*_CLAIM_COLUMNS, Column("decided at"), Column("so far")], rows, caption=caption)


_CLAIM_COLUMNS = (Column("#", "right"), Column("claim"), Column("source"), Column("published"))
