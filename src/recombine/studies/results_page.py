"""A study's results as a page: what came out, the claim table, the figures, every number behind a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from recombine._version import __version__
from recombine.report import Details, Page, Picture, Section, duration, machine, progress
from recombine.report.content import Block
from recombine.studies.claims import Outcome
from recombine.studies.display import outcomes_table
from recombine.studies.study import Reproduction


def results_page(found: Reproduction, *, more: Sequence[Reproduction] = ()) -> Page:
    """The page of a study that has been run.

    **Arguments:**

    - `more`: runs of the same study at other scales or with other seeds, each shown in a section of its own.
    """
    study = found.study
    counts = ", ".join(f"{found.count(word)} {_verb(word)}" for word in ("holds", "fails", "undecided"))
    lead = f"{study.reference}. Of {len(found.outcomes)} claims at scale {found.scale}, {counts}."
    sections = [Section("Claims", [outcomes_table(found.outcomes, sources=study.sources)])]
    for other in more:
        decided = [o for o in other.outcomes if o.verdict is not None and _is_new(o, other, found)]
        if decided:
            sections.append(Section(_heading(other, found), [outcomes_table(decided), _numbers(decided)]))
    for tabulation in study.tabulations:
        if all(name in found.evidence for name in tabulation.needs):
            sections.append(Section(tabulation.title, [tabulation.fill(found.evidence)]))
    sections.append(Section("Figures", _pictures(found)))
    findings = [f"**{claim.id}** {claim.finding}" for claim in study.claims if claim.finding]
    if findings:
        sections.append(Section("What was looked into", findings))
    sections.append(
        Section("The numbers behind the verdicts", [_line(o) for o in found.outcomes if o.verdict])
    )
    footer = {
        "Version": __version__,
        "Scale": found.scale,
        "Seeds": ", ".join(map(str, found.seeds)),
        "Machine": machine(),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    if found.jobs:
        footer["Time"] = f"{duration(found.seconds)} on {found.jobs} processes"
    return Page(study.title, lead, sections, footer)


def _heading(other: Reproduction, found: Reproduction) -> str:
    if other.seed_offset == found.seed_offset:
        return f"At scale {other.scale}"
    return f"With other seeds, scale {other.scale} (seeds {other.seeds[0]} to {other.seeds[-1]})"


def _is_new(outcome: Outcome, other: Reproduction, found: Reproduction) -> bool:
    """Whether another run has other results for a claim; arms without training may be the same at every scale."""
    for name in outcome.claim.needs:
        mine, theirs = found.evidence.get(name), other.evidence[name]
        if mine is None or mine.seeds != theirs.seeds or mine.values.keys() != theirs.values.keys():
            return True
        if not all(np.array_equal(mine[key], theirs[key], equal_nan=True) for key in mine.values):
            return True
    return False


def _verb(word: str) -> str:
    return {"holds": "hold", "fails": "fail"}.get(word, "are undecided")


def _pictures(found: Reproduction) -> list[Block]:
    pictures: list[Block] = []
    ready = [d for d in found.study.drawings if all(name in found.evidence for name in d.needs)]
    with progress() as shown:
        line = shown.line("drawing", f"{len(ready)} figures") if ready else None
        for drawing in ready:
            figure = drawing.draw(found.evidence)
            caption = f"**{drawing.title}** {drawing.caption}"
            pictures.append(Picture(drawing.name, figure, caption, drawing.title, drawing.form))
            if line is not None:
                line.update(len(pictures) / len(ready))
        if line is not None:
            line.finish()
    return pictures or ["No figure can be drawn yet: the arms they need have not been run."]


def _line(outcome: Outcome) -> str:
    assert outcome.verdict is not None
    return f"**{outcome.claim.id}** {outcome.claim.statement}. {outcome.verdict.detail}"


def _numbers(outcomes: Sequence[Outcome]) -> Details:
    return Details("The numbers behind these verdicts", [_line(outcome) for outcome in outcomes])
