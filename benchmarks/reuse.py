"""Reports on networks whose finetuning regime is known: a confusion matrix, and every miss."""

from __future__ import annotations

from collections import Counter

from tests.reuse.planted import TRUTH, Case, Design, cases

from recombine import reuse_report
from recombine.report import Column, Row, Table, percent, table_text
from recombine.reuse.layers import LABELS

REGIMES = tuple(dict.fromkeys(TRUTH.values()))


def confusion(designs: int, seed_offset: int = 0) -> str:
    """Trains all kinds of cases for so many designs (half PyTorch, half JAX), with seeds from `seed_offset` on.

    Shrunken networks count only where the teacher's features show that they are nested (see `tests/reuse/planted.py`).
    """
    counts: dict[str, Counter[str]] = {regime: Counter() for regime in REGIMES}
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in TRUTH}
    misses = []
    for seed in range(seed_offset, seed_offset + designs):
        for case in cases(Design.drawn(seed)):
            label = reuse_report(case.before, case.after, case.inputs).label
            counts[case.truth][label] += 1
            kinds[case.kind][label] += 1
            if label != case.truth:
                misses.append(_miss(case, label))
    total, right = (
        sum(sum(one.values()) for one in counts.values()),
        sum(one[regime] for regime, one in counts.items()),
    )
    opposite = sum(one[other] for regime, one in counts.items() for other in REGIMES if other != regime)
    return "\n".join(
        [
            _table("regime", counts, {regime: regime for regime in REGIMES}),
            _table("planted as", kinds, TRUTH),
            f"right: {right} of {total} ({percent(right / total)}); another regime: {opposite}",
            f"misses: {len(misses)}",
            *(f"  {miss}" for miss in misses),
        ]
    )


def _table(title: str, counts: dict[str, Counter[str]], truth: dict[str, str]) -> str:
    columns = [Column(title), *(Column(label, "right") for label in LABELS), Column("right", "right")]
    rows = [
        Row(
            [
                name,
                *(str(one[label] or "") for label in LABELS),
                percent(one[truth[name]] / max(1, sum(one.values()))),
            ]
        )
        for name, one in counts.items()
    ]
    return table_text(Table(columns, rows))


def _miss(case: Case, label: str) -> str:
    layer = reuse_report(case.before, case.after, case.inputs).decisive
    numbers = f"kept {layer.kept.value:.2f}, inside {layer.retained.value:.2f}, as before {layer.persistence.value:.2f}"
    return f"{case.kind} ({case.truth}) as {label}: {numbers}; {case.design}"
