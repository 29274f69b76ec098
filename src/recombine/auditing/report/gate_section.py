"""What a gate decided, and what changed since a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recombine.auditing.findings.finding import cell_list
from recombine.auditing.thresholds import MAX_LISTED_CELLS
from recombine.report import (
    Badge,
    Block,
    Column,
    Details,
    Fact,
    Facts,
    Only,
    Row,
    Section,
    Table,
    bracket,
    count,
    number,
)

if TYPE_CHECKING:
    from recombine.auditing.comparison.paired_difference import PairedDifference
    from recombine.auditing.gate import BaselineChange, GateResult
    from recombine.auditing.result import AuditReport
    from recombine.report.document import Tone

_TONES: dict[str, Tone] = {"failed": "bad", "passed": "good", "not measured": "open"}


def gate_sections(report: AuditReport) -> Iterator[Section]:
    """The gate and the baseline, if there are any."""
    if report.gate is not None:
        yield gate_section(report.gate)
    if report.since is not None:
        yield Section(f"Since {report.since.name}", baseline_blocks(report.since))


def gate_section(gate: GateResult) -> Section:
    """Every condition with its outcome."""
    facts = [Fact(one.name, one.sentence, Badge(one.status, _TONES[one.status])) for one in gate.results]
    return Section("Gate: passed" if gate.passed else "Gate: failed", [Facts(facts)])


def baseline_blocks(since: BaselineChange) -> list[Block]:
    """What changed: a sentence, errors in a table, findings, and cells."""
    blocks: list[Block] = [f"{since.change[0].upper()}{since.change[1:]}."]
    rows = [
        _difference_row(name, one)
        for name, one in (
            ("unseen cells", since.unseen),
            ("seen cells", since.seen),
            *((f"unseen cells, {name}", one) for name, one in since.by_output.items()),
        )
        if one.cells
    ]
    if rows:
        how = "paired: the same cells in both audits" if since.paired else "unpaired: means of both audits"
        columns = [Column("error of"), *(Column(name, "right") for name in ("cells", "then", "now"))]
        columns += [Column("difference", "right"), Column("")]
        caption = f"{how[0].upper()}{how[1:]}. Errors of single outputs are compared unpaired."
        blocks.append(
            Only("page", [Table(columns, rows, caption if since.by_output else f"{how.capitalize()}.")])
        )
    facts = [Fact(one.title, f"{one.before}, now {one.after}") for one in since.findings]
    facts += [
        Fact(label, f"{count(len(cells), 'unseen cell')}: {cell_list(cells, MAX_LISTED_CELLS)}")
        for label, cells in (("right, now wrong", since.broken), ("wrong, now right", since.repaired))
        if cells
    ]
    if facts:
        blocks.append(Facts(facts))
    blocks += [f"{note[0].upper()}{note[1:]}." for note in since.notes]
    return blocks


def _difference_row(name: str, one: PairedDifference) -> Row:
    return Row([name, count(one.cells), number(one.before), number(one.after), *difference_entries(one)])


def difference_entries(one: PairedDifference, names: tuple[str, str] | None = None) -> list[str | Badge]:
    """A difference with its interval, and a word on it: which of two models is better, or whether this one is."""
    word: Badge = Badge("not beyond noise", "open")
    if one.same:
        word = Badge("the same", "open")
    elif one.differs:
        word = Badge("better", "good") if one.better else Badge("worse", "bad")
        if names is not None:
            word = Badge(f"{names[1] if one.better else names[0]} is better", "good")
    return [bracket(one.difference, apart_from=0.0), word]


def cell_table(cells: Sequence[Mapping[str, Any]], summary: str) -> Details:
    """Cells by their levels, folded away."""
    names = list(cells[0])
    rows = [Row([str(cell[name]) for name in names]) for cell in cells[:MAX_LISTED_CELLS]]
    more = f" (the first {MAX_LISTED_CELLS})" if len(cells) > MAX_LISTED_CELLS else ""
    return Details(f"{summary}{more}", [Table([Column(name) for name in names], rows)])
