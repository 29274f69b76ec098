"""Audits of models with planted behaviour: a confusion matrix, and every miss."""

from __future__ import annotations

from collections import Counter

from tests.auditing.planted import FINDINGS, KINDS, Planted, planted

from recombine import audit
from recombine.report import Column, Row, Table, percent, table_text

COMPOSERS = ("composer", "noisy_composer")
COLUMNS = (*FINDINGS, "nothing", "several")


def confusion(per_kind: int, seed_offset: int = 0) -> str:
    """Audits `per_kind` constructions of every kind, with seeds from `seed_offset` on.

    A construction is on the diagonal if exactly the expected findings hold. A false alarm is any finding except
    `composes` that holds for a composer.
    """
    rows, misses = [], []
    on_diagonal = alarms = praised = 0
    for kind in KINDS:
        counts: Counter[str] = Counter()
        right = 0
        for seed in range(seed_offset, seed_offset + per_kind):
            made = planted(kind, seed)
            holding = findings(made, seed)
            counts[holding[0] if len(holding) == 1 else "several" if holding else "nothing"] += 1
            right += made.expected == set(holding)
            if made.expected != set(holding):
                misses.append(f"{kind} {seed}: {', '.join(holding) or 'nothing'}; {made.note}")
            if kind in COMPOSERS:
                alarms += bool(set(holding) - {"composes"})
            else:
                praised += "composes" in holding
        on_diagonal += right
        rows.append(Row([kind, *(str(counts[name] or "") for name in COLUMNS), percent(right / per_kind)]))
    columns = [Column("planted"), *(Column(name, "right") for name in (*COLUMNS, "as planted"))]
    composers, others = per_kind * len(COMPOSERS), per_kind * (len(KINDS) - len(COMPOSERS))
    lines = [
        table_text(Table(columns, rows, caption=f"findings that hold, {per_kind} of each kind")),
        f"as planted: {on_diagonal} of {composers + others} ({percent(on_diagonal / (composers + others))})",
        f"false alarms on composers: {alarms} of {composers}",
        f"other models reported to compose: {praised} of {others}",
        f"misses: {len(misses)}",
        *(f"  {miss}" for miss in misses),
    ]
    return "\n".join(lines)


def findings(made: Planted, seed: int) -> list[str]:
    """The behavioural findings that hold."""
    try:
        report = audit(
            made.table, factors=made.factors, seen="train", target=made.target, prediction=made.prediction
        )
    except Exception as error:
        error.add_note(f"of {made.kind} {seed}: {made.note}")
        raise
    return [name for name in FINDINGS if report.finding(name).holds is True]
