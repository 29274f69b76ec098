"""A reproduction as a document: the headline table, the main figure, what was learned, then every section.

The terminal shows the claims that were asked for, in the same columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recombine._version import __version__
from recombine.intervals import LEVEL
from recombine.report import (
    Badge,
    Block,
    Bullets,
    Column,
    Document,
    Picture,
    Row,
    Section,
    Table,
    bracket,
    duration,
    machine,
    number,
    percent,
    progress,
)
from recombine.report.document import Tone
from recombine.report.numbers import MISSING
from recombine.report.progress import ProgressDisplay
from recombine.runs.trial_progress import plural
from recombine.studies.claim import Claim, Outcome
from recombine.studies.measurement import Unpaired
from recombine.studies.recorded_tables import read_tables
from recombine.studies.replication import agreement
from recombine.studies.reproduction import Reproduction
from recombine.studies.study import Drawing, StudySection
from recombine.studies.verdict import VERDICTS, VerdictName

TONES: dict[VerdictName, Tone] = {
    "reproduced": "good",
    "verified": "good",
    "weaker": "open",
    "open": "open",
    "described": "open",
    "not run": "open",
    "contradicted": "bad",
    "violated": "bad",
}
HOW_VERDICTS_ARE_REACHED = (
    "The estimate is the median over seeds with its 95% order-statistic interval. **reproduced**: the interval "
    'excludes "no effect" on the side the paper claims, and the estimate reaches the published size (half of the '
    "published effect where the paper gives no bound). **weaker**: the direction holds, the size does not. **open**: "
    'the interval contains "no effect". **contradicted**: it lies on the other side. Exact statements are '
    "**verified** or **violated**."
)


MAX_SHOWN_SUPPORTS = 24
"""More numbers than this would not be read; they have a table or a figure of their own."""


def terminal_document(reproduction: Reproduction) -> Document:
    """The claims that were asked for, with how they were run and what came out."""
    outcomes = reproduction.outcomes
    what = "headline claims" if all(outcome.claim.headline for outcome in outcomes) else "claims"
    run = f"scale {reproduction.scale} · {plural(len(reproduction.seeds), 'seed')}"
    if _was_run(reproduction):
        run += f" · {_time(reproduction)}"
    lead = f"{reproduction.study.name} · {what} · {run}"
    return Document(
        reproduction.study.title,
        lead,
        [Section("", [outcomes_table(outcomes, heading=reproduction.study.says)])],
    )


def results_document(
    reproduction: Reproduction,
    *,
    others: Sequence[Reproduction] = (),
    per_seed_file: str = "",
    recorded: Path | None = None,
    figures: bool = True,
    quiet: bool = False,
) -> Document:
    """The results page of a study that has been run.

    **Arguments:**

    - `others`: the same study with other seeds or at the published sizes; their verdicts are shown side by side.
    - `per_seed_file`: the file with the numbers per seed, to link to.
    - `recorded`: a folder with figures and tables of earlier runs, for those that the evidence does not give.
    - `figures`: whether to draw the figures.
    - `quiet`: show no progress while drawing.
    """
    study = reproduction.study
    headlines = [outcome for outcome in reproduction.outcomes if outcome.claim.headline]
    evidence = reproduction.evidence
    drawings = [d for d in study.drawings if all(name in evidence for name in d.needs)] if figures else []
    with progress(quiet=quiet) as display:
        pictures = _draw_all(drawings, reproduction, display)
    if recorded is not None and figures:
        pictures |= _recorded_pictures(study.drawings, recorded, drawn=pictures)
    tables = filled_tables(reproduction, recorded)
    headline_table = outcomes_table(headlines, others=others, heading=study.says)
    sections = [Section("", [headline_table, HOW_VERDICTS_ARE_REACHED])]
    if study.main_figure in pictures:
        sections.append(Section("The message in one figure", [pictures.pop(study.main_figure)], where="page"))
    lessons = _lessons(reproduction)
    if lessons:
        sections.append(Section(study.teaches, [Bullets(lessons)], where="page"))
    for section in study.sections:
        blocks = _section_blocks(section, reproduction, others, tables, pictures)
        if blocks:
            sections.append(Section(section.title, blocks, where="page"))
    sections += [
        Section(heading, blocks, where="page")
        for heading, blocks in (
            ("Amendments", _amendments(study.claims)),
            ("Repeatability", _repeatability(reproduction, others)),
        )
        if blocks
    ]
    if per_seed_file:
        sentence = f"Every number per seed, so that you can apply another rule: `{per_seed_file}`."
        blocks = [sentence, *_recordings([reproduction, *others])]
        sections.append(Section("Numbers per seed", blocks, where="page"))
    return Document(study.title, _lead(reproduction), sections, _footer(reproduction))


def _lessons(reproduction: Reproduction) -> list[str]:
    """What rests on claims that have been measured, with their numbers."""
    measured = {o.claim.id for o in reproduction.outcomes if o.measurement is not None}
    return [
        f"{lesson.text} ({'claim' if len(lesson.claims) == 1 else 'claims'} {', '.join(lesson.claims)})"
        for lesson in reproduction.study.learned
        if measured.issuperset(lesson.claims)
    ]


def outcomes_table(
    outcomes: Sequence[Outcome],
    *,
    others: Sequence[Reproduction] = (),
    heading: str = "the paper says",
) -> Table:
    """The statement, published and measured values, seeds and verdict; one more verdict per other run."""
    columns = [
        Column("#", "right"),
        Column(heading),
        Column("published"),
        Column("measured"),
        Column("seeds"),
        Column("verdict"),
        *(Column(_run_name(other)) for other in others),
    ]
    rows = []
    for outcome in outcomes:
        entries: list[str | Badge] = [
            outcome.claim.id,
            outcome.claim.statement + (" (ours)" if outcome.claim.source.startswith("ours") else ""),
            outcome.claim.published,
            measured_text(outcome),
            seeds_text(outcome),
            _badge(outcome),
        ]
        for other in others:
            theirs = other.outcome(outcome.claim.id)
            if theirs is None or theirs.measurement is None:
                entries.append(MISSING)
            else:
                entries.append(Badge(f"{theirs.verdict.name} {measured_text(theirs)}", _tone(theirs)))
        rows.append(Row(entries))
    return Table(columns, rows)


def measured_text(outcome: Outcome) -> str:
    """The estimate with its interval, `41x [36, 47]`; for exact statements the worst deviation."""
    estimate, quantity = outcome.verdict.estimate, outcome.claim.quantity
    if estimate is None:
        return outcome.note
    if quantity.kind == "deviation":
        return number(estimate.value)
    unit = {"ratio": "x", "rate": "%"}.get(quantity.kind, "")
    return bracket(estimate, unit=unit, apart_from=quantity.no_effect)


def seeds_text(outcome: Outcome) -> str:
    """How many of the seeds lie on the claimed side, `9/10`, and how many were left out."""
    verdict = outcome.verdict
    if verdict.estimate is None or outcome.claim.kind == "exact":
        return MISSING
    if isinstance(outcome.measurement, Unpaired):
        text = " + ".join(str(int(sample.kept.sum())) for sample in outcome.measurement.samples)
    else:
        text = (
            str(verdict.n_seeds) if verdict.favourable is None else f"{verdict.favourable}/{verdict.n_seeds}"
        )
    return f"{text} (-{verdict.n_excluded})" if verdict.n_excluded else text


def _badge(outcome: Outcome) -> Badge:
    text: str = outcome.verdict.name
    if text == "open" and outcome.verdict.seeds_needed is not None:
        text = f"open (needs {outcome.verdict.seeds_needed} seeds)"
    if outcome.claim.reduced and outcome.scale != "paper" and outcome.measurement is not None:
        text += ", reduced size"
    return Badge(text, _tone(outcome))


def _tone(outcome: Outcome) -> Tone:
    return TONES[outcome.verdict.name]


def _run_name(reproduction: Reproduction) -> str:
    if reproduction.scale == "paper" and reproduction.seed_offset == 0:
        return "scale paper"
    return f"seeds from {reproduction.seed_offset}"


def _section_blocks(
    section: StudySection,
    reproduction: Reproduction,
    others: Sequence[Reproduction],
    tables: Mapping[str, Table],
    pictures: dict[str, Picture],
) -> list[Block]:
    """Claims with their findings, then the section's tables and figures."""
    outcomes = [reproduction.outcome(claim.id) for claim in section.claims]
    present = [outcome for outcome in outcomes if outcome is not None]
    # Headlines stand in the table at the top already; every number appears once.
    blocks: list[Block] = []
    further = [outcome for outcome in present if not outcome.claim.headline]
    if further:
        blocks.append(outcomes_table(further, others=others, heading="claim"))
    for outcome in present:
        if outcome.measurement is not None:
            blocks.append(_account(outcome))
        elif outcome.claim.obstacle:
            claim = outcome.claim
            blocks.append(f"**{claim.id}. {claim.statement}** ({claim.source}). Not run: {claim.obstacle}")
    for tabulation in section.tabulations:
        if tabulation.title in tables:
            blocks += [f"**{tabulation.title}**", tables[tabulation.title]]
    return blocks + [pictures[d.name] for d in section.drawings if d.name in pictures]


def filled_tables(reproduction: Reproduction, recorded: Path | None = None) -> dict[str, Table]:
    """The tables of a study by title: those that the evidence fills, and of the others those of an earlier page."""
    evidence, earlier = reproduction.evidence, read_tables(recorded)
    tables = {}
    for section in reproduction.study.sections:
        for tabulation in section.tabulations:
            if all(name in evidence for name in tabulation.needs):
                tables[tabulation.title] = tabulation.fill(evidence)
            elif tabulation.title in earlier:
                tables[tabulation.title] = earlier[tabulation.title]
    return tables


def _account(outcome: Outcome) -> str:
    """What was measured, what qualifies it, and the finding, in one paragraph."""
    claim, verdict, quantity = outcome.claim, outcome.verdict, outcome.claim.quantity
    parts = [f"**{claim.id}. {claim.statement}** ({claim.source}). Measured: {quantity.name}"]
    if claim.kind == "trained":
        bounds = f"no effect: {number(quantity.no_effect)}"
        if quantity.magnitude is not None:
            bound = "as published" if quantity.published is not None else "bound"
            bounds += f"; {bound}: {quantity.direction} {number(quantity.magnitude)}"
        parts[0] += f" ({bounds})"
    parts[0] += "."
    if outcome.level != LEVEL and claim.kind == "trained":
        parts.append(
            f"Seeds were added until it was decided, so the interval is that of {outcome.level:.1%}."
        )
    if claim.kind == "exact":
        parts.append(f"Tolerance {number(quantity.tolerance)}; {verdict.note}.")
    if claim.reduced and outcome.scale != "paper":
        parts.append(f"Reduced size: {claim.reduced}.")
    supports = [f"{name} {bracket(found)}" for name, found in outcome.supporting_estimates().items()]
    if len(supports) > MAX_SHOWN_SUPPORTS:
        parts.append(
            f"Also measured: {len(supports)} numbers, which are in the file with the numbers per seed."
        )
    elif supports:
        parts.append(f"Also measured: {'; '.join(supports)}.")
    if verdict.excluded:
        left_out = "; ".join(f"{count} ({reason})" for reason, count in verdict.excluded)
        parts.append(f"Seeds left out: {left_out}.")
    if verdict.name == "open":
        parts.append(f"Open: {outcome.note}.")
    if claim.reversal:
        parts.append(f"It would have been contradicted if {claim.reversal}.")
    if claim.finding:
        parts.append(claim.finding)
    return " ".join(parts)


def _amendments(claims: Sequence[Claim]) -> list[Block]:
    rows = [
        Row([claim.id, amendment.old, amendment.new, amendment.reason, "yes" if amendment.seen else "no"])
        for claim in claims
        for amendment in claim.amendments
    ]
    if not rows:
        return []
    columns = [Column("#", "right"), *map(Column, ("before", "now", "why", "numbers seen before"))]
    count = plural(len(rows), "amendment")
    return [
        f"Bounds and quantities are fixed before measuring; the {count} made since:",
        Table(columns, rows),
    ]


def _repeatability(reproduction: Reproduction, others: Sequence[Reproduction]) -> list[Block]:
    """How far other seeds at the same scale lead to the same verdicts."""
    sentences: list[Block] = []
    for other in others:
        if other.scale != reproduction.scale:
            continue
        found = agreement(reproduction, other)
        text = (
            f"With seeds from {other.seed_offset} on, {found.same} of {found.decided} trained verdicts that are not "
            "open in either set agree"
        )
        text += f" ({percent(found.same / found.decided)})." if found.decided else "."
        if found.reversed:
            text += f" Reversed: {', '.join(found.reversed)}."
        if found.changed:
            changes = [f"{id} ({one}, {two})" for id, (one, two) in found.changed.items()]
            text += f" Different, open ones included: {'; '.join(changes)}."
        sentences.append(text)
    return sentences


def _recordings(runs: Sequence[Reproduction]) -> list[Block]:
    """Which verdicts rest on numbers of an earlier run."""
    parts: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        claims: dict[tuple[str, str], list[str]] = {}
        for outcome in run.outcomes:
            if outcome.recorded is not None:
                origin = outcome.recorded.date, outcome.recorded.version
                claims.setdefault(origin, []).append(outcome.claim.id)
        for origin, ids in claims.items():
            which = "claims" if run is runs[0] else f"{_run_name(run)}:"
            parts.setdefault(origin, []).append(f"{which} {', '.join(ids)}")
    return [
        f"Recorded on {date} with version {version}, and decided again from these numbers: {'; '.join(texts)}."
        for (date, version), texts in sorted(parts.items())
    ]


def _lead(reproduction: Reproduction) -> str:
    """The paper, how it was run and what came out, counted by kind of claim."""
    kinds = []
    for kind in ("trained", "exact", "described"):
        outcomes = [o for o in reproduction.outcomes if o.claim.kind == kind]
        counts = [(sum(o.verdict.name == name for o in outcomes), name) for name in VERDICTS]
        words = ", ".join(f"{n} {name}" for n, name in counts if n)
        if outcomes:
            kinds.append(f"{plural(len(outcomes), f'{kind} claim')}: {words}")
    run = f"scale {reproduction.scale}, {plural(len(reproduction.seeds), 'seed')}"
    if _was_run(reproduction):
        run += f", {_time(reproduction)}"
    return f"{reproduction.study.reference}. {'; '.join(kinds)} ({run}). {reproduction.study.sources}".strip()


def _was_run(reproduction: Reproduction) -> bool:
    """Whether trials were run for it in processes; otherwise it was read from the store."""
    return reproduction.jobs > 0 or reproduction.on != "local"


def _time(reproduction: Reproduction) -> str:
    where = f"{reproduction.jobs} process{'es' if reproduction.jobs > 1 else ''}"
    if reproduction.on != "local":
        where = "a Ray cluster"
    return f"{duration(reproduction.seconds)} on {where}"


def _footer(reproduction: Reproduction) -> dict[str, str]:
    footer = {
        "Version": __version__,
        "Scale": reproduction.scale,
        "Seeds": ", ".join(map(str, reproduction.seeds)),
        "Machine": machine(),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    return footer | ({"Time": _time(reproduction)} if _was_run(reproduction) else {})


def _draw_all(
    drawings: Sequence[Drawing], reproduction: Reproduction, display: ProgressDisplay
) -> dict[str, Picture]:
    pictures: dict[str, Picture] = {}
    line = display.line("drawing", plural(len(drawings), "figure")) if drawings else None
    for drawing in drawings:
        figure = drawing.draw(reproduction.evidence)
        caption = f"**{drawing.title}** {drawing.caption}"
        pictures[drawing.name] = Picture(drawing.name, figure, caption, drawing.title, drawing.form)
        if line is not None:
            line.update(len(pictures) / len(drawings))
    if line is not None:
        line.finish()
    return pictures


def _recorded_pictures(
    drawings: Sequence[Drawing], folder: Path, *, drawn: Collection[str]
) -> dict[str, Picture]:
    """Figures of earlier runs, where this run has none."""
    return {
        drawing.name: Picture(
            drawing.name, file, f"**{drawing.title}** {drawing.caption}", drawing.title, "image"
        )
        for drawing in drawings
        if drawing.name not in drawn and (file := folder / f"{drawing.name}.png").is_file()
    }


def overview_document(runs: Sequence[tuple[Reproduction, Sequence[Reproduction]]]) -> Document:
    """The headline tables of several studies on one page, each with its other runs next to it."""
    sections = []
    for reproduction, others in runs:
        headlines = [outcome for outcome in reproduction.outcomes if outcome.claim.headline]
        link = f"{reproduction.study.reference}. Full page: `{reproduction.study.name}.md`."
        table = outcomes_table(headlines, others=others, heading=reproduction.study.says)
        sections.append(Section(reproduction.study.name, [link, table]))
    title = "The papers' headline claims, and what we measured"
    return Document(title, HOW_VERDICTS_ARE_REACHED, sections, _footer(runs[0][0]))


def claims_table(reproduction: Reproduction) -> Table:
    """A study's claims, what decides each, and the verdicts that the stored results already give."""
    rows = []
    for outcome in reproduction.outcomes:
        claim = outcome.claim
        decided = claim.kind if claim.decided_at == "quick" else f"{claim.kind}, scale {claim.decided_at}"
        if claim.minutes:
            decided += f", {claim.minutes:.0f} min"
        mark = f"{claim.id}*" if claim.headline else claim.id
        verdict = _badge(outcome) if outcome.measurement is not None else MISSING
        rows.append(Row([mark, claim.statement, claim.source, claim.published, decided, verdict]))
    columns = [Column("#", "right"), *map(Column, ("claim", "source", "published", "decided by", "so far"))]
    caption = (
        "*: a headline. So far: the verdict from the results stored at scale "
        f"{reproduction.scale}, – if there are none. {reproduction.study.sources}"
    ).strip()
    return Table(columns, rows, caption=caption)
