"""Runs the demo, prints what came out in words, and writes the report."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine._version import __version__
from recombine.report import Column, Row, Table, percent, plus_minus, table_text
from recombine.runs import Store
from recombine.studies.claims import Arm, Evidence, Scale
from recombine.studies.demonstration.page import demo_page
from recombine.studies.demonstration.world import HOLE, METHODS, SIZE, demo_study
from recombine.studies.display import TrialProgress
from recombine.studies.study import gather, shifted

SIDES: tuple[Literal["in", "out"], ...] = ("in", "out")
WIDTH = 110
"""Columns of running text in the terminal."""


def result_table(evidence: Evidence) -> Table:
    """Error relative to the blank picture and accuracy of position, seen and unseen."""
    columns = [Column("")]
    columns += [Column(f"{side} cells", "right", "error (blank picture = 1)") for side in ("seen", "unseen")]
    columns += [Column(side, "right", "bump at the right place") for side in ("seen", "unseen")]
    rows = []
    for method in METHODS:
        arm = evidence[method]
        errors = [plus_minus(arm.share_of_blank(s)) for s in SIDES]
        places = [percent(float(np.mean(arm[f"accuracy1_{s}"]))) for s in SIDES]
        rows.append(Row([method, *errors, *places]))
    first = evidence[METHODS[0]]
    for name, key in (("(the mean picture)", "mean_image"), ("(a sum of related pictures)", "superposition")):
        shares = [first[f"baseline_{key}_{s}"][0] / first[f"baseline_blank_{s}"][0] for s in ("in", "out")]
        rows.append(Row([name, *(f"{share:.2f}" for share in shares), "", ""]))
    return Table(columns, rows)


def explanation(evidence: Evidence) -> list[str]:
    """What the numbers say, in words that follow the numbers."""
    ordinary, rendered, striped = (evidence[method] for method in METHODS)

    def middle(arm: Arm, name: str) -> float:
        return float(np.median(arm[name]))

    readable = float(np.median(ordinary["r2_held_out"][:, 1:-1].min(axis=(1, 2))))
    share = middle(ordinary, "error_out") / middle(ordinary, "baseline_blank_out")
    summed, true = middle(ordinary, "with_superposition"), middle(ordinary, "with_truth")
    room, striped_room = (10 ** float(np.median(arm["volume_gap"][:, -1])) for arm in (ordinary, striped))
    lines = []
    if share <= 0.5:
        lines.append(
            "The ordinary decoder did not fail here: its unseen error is below half of a blank picture's."
        )
    else:
        why = f"The ordinary decoder fails on unseen cells (error {share:.2f} of a blank picture's)."
        if summed > true + 0.2:
            why += (
                " Why: its picture is close to a sum of training pictures that share x or share y (correlation "
                f"{summed:.2f} with that sum, {true:.2f} with the truth)."
            )
        if readable > 0.9 and room < 0.67:
            why += (
                f" x and y stay readable in every layer (R² > {np.floor(readable * 100 - 1e-9) / 100:.2f}), but layer "
                f"by layer the unseen region is squeezed: in the picture it has {room:.2f} of the room that the seen "
                f"region has (with stripes {striped_room:.2f})."
            )
        lines.append(why)
    helped = []
    for name, arm in (
        ("make each factor draw itself first (forced rendering)", rendered),
        ("show each factor alone (stripes)", striped),
    ):
        gain = middle(ordinary, "error_out") / middle(arm, "error_out")
        if gain > 1.5:
            helped.append(f"{name}, unseen error {gain:.{0 if gain >= 10 else 1}f} times smaller")
    lines.append("What helps: " + "; ".join(helped) + "." if helped else "Neither remedy helped here.")
    return lines


def demonstrate(
    out: Path,
    *,
    scale: Scale = "quick",
    seed_offset: int = 0,
    store: Path | None = None,
    jobs: int = 2,
    as_json: bool = False,
    say: Callable[[str], None] = print,
) -> Evidence:
    """Runs the demo and writes its report to `out`."""
    study = demo_study()
    groups = shifted(study.arms(scale), seed_offset)
    cells, hidden = SIZE**2, (HOLE[1] - HOLE[0] + 1) ** 2
    if not as_json:
        say(f"recombine {__version__} · demo\n")
        world = (
            f"The world: {SIZE} x {SIZE} pictures of one bump at (x, y). Training shows every x and every y, but "
            f"not {hidden} of the {cells} combinations (a square hole in the middle). Can a decoder draw what it "
            "never saw combined?"
        )
        say(textwrap.fill(world, WIDTH) + "\n")
    with TrialProgress(study.cost, unit="seeds") as shown:
        shown.expect(groups)
        evidence = gather(groups, scale, store=Store(store), jobs=jobs, cost=study.cost, on_event=shown)
    table, words = result_table(evidence), explanation(evidence)
    page = demo_page(evidence, table, words).write(out)
    if as_json:
        say(json.dumps(summary(evidence) | {"report": str(page)}, indent=2))
    else:
        say("")
        say(table_text(table))
        say("")
        for line in words:
            say(textwrap.fill(line, WIDTH))
        say(f"\nReport with pictures: {page}        Next: recombine advise --help · recombine claims")
    return evidence


def summary(evidence: Evidence) -> dict[str, Any]:
    """The table as numbers, one per seed."""
    names = ("error_in", "error_out", "accuracy1_in", "accuracy1_out", "with_superposition", "with_truth")
    return {
        "version": __version__,
        "methods": {
            method: {"seeds": list(arm.seeds), "status": list(arm.status)}
            | {n: arm[n].tolist() for n in names}
            for method, arm in evidence.items()
        },
    }
