"""Runs the demo. Its result is one document: the terminal shows the estimates, a page also shows the figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.intervals import interval
from recombine.report import (
    Column,
    Document,
    Report,
    Row,
    Section,
    Table,
    bracket,
    fixed,
    machine,
    percent,
)
from recombine.report.document import Block
from recombine.runs import Store
from recombine.runs.trial_progress import TrialProgress, plural
from recombine.studies.demo import figures
from recombine.studies.demo.methods import METHODS, SIZE, arms, cost, demo_split
from recombine.studies.evidence import Arm, Evidence, Scale
from recombine.studies.reproduction import gather

TITLE = "Can a decoder draw combinations it has never seen?"

FAILURE = 0.5
"""Above this unseen error (blank image = 1) we say that the decoder fails: it is closer to blank than to right."""
SUPERPOSITION_LEAD = 0.2
"""How much better an image must correlate with the sum of related training images than with its target before we call
it such a sum; the published bound of claim 8 of forced rendering."""
READABLE = 0.9
"""From this R² on in every hidden layer we say that x and y can be read from all of them."""
SQUEEZED = 0.67
"""Below this ratio of volumes, unseen to seen, we say that the unseen region is squeezed: a third of it is gone."""
GAIN = 1.5
"""A remedy helps if it divides the unseen error by more than this."""

REMEDIES = {
    "forced rendering": "forced rendering (each factor is first drawn on its own)",
    "stripes in the curriculum": "stripes (training images that show one factor alone)",
}


@dataclass(frozen=True)
class MethodEstimates:
    """The numbers of one method that table, text and page quote: medians over seeds, as printed.

    Errors are relative to a blank image; `unseen_error_text` includes the interval.
    """

    unseen_error: float
    seen_error_text: str
    unseen_error_text: str
    seen_position_text: str
    unseen_position_text: str

    @property
    def unseen_error_alone(self) -> str:
        """The unseen error with the digits of the table, without its interval."""
        return self.unseen_error_text.partition(" [")[0]

    @staticmethod
    def of(arm: Arm) -> MethodEstimates:
        """Estimates from the results of one arm."""
        return MethodEstimates(
            unseen_error=_median(arm.share_of_blank("out")),
            seen_error_text=fixed(_median(arm.share_of_blank("in")), 2),
            unseen_error_text=bracket(interval(arm.share_of_blank("out"))),
            seen_position_text=percent(_median(arm["accuracy1_in"])),
            unseen_position_text=percent(_median(arm["accuracy1_out"])),
        )


@dataclass(frozen=True, repr=False)
class DemoResult(Report):
    """The finished demo."""

    evidence: Evidence

    @cached_property
    def estimates(self) -> dict[str, MethodEstimates]:
        """The estimates of every method, computed once."""
        return {method: MethodEstimates.of(self.evidence[method]) for method in METHODS}

    def document(self) -> Document:
        """Task, table, reasons and remedies; on a page also the figures."""
        page: list[tuple[str, list[Block]]] = [
            ("Where it goes wrong", [figures.error_maps(self.evidence), figures.images(self.evidence)]),
            ("Why", [*self._layers_text(), figures.layers(self.evidence), figures.curves(self.evidence)]),
            ("What forced rendering does", [figures.canvases(self.evidence)]),
            ("What to do with this", list(ADVICE)),
        ]
        sections = [*self._results(), *(Section(heading, blocks, where="page") for heading, blocks in page)]
        footer = {
            "Version": __version__,
            "Seeds": ", ".join(str(seed) for seed in self.evidence[METHODS[0]].seeds),
            "Machine": machine(),
            "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "Method": "Liang, Qian, Ziyin & Fiete, ICML 2025, arXiv:2501.18797",
        }
        return Document(TITLE, _task_text(), sections, footer)

    def results_text(self, *, width: int | None = None) -> str:
        """The document for the terminal without the task, which is printed before training."""
        return Document(TITLE, "", self._results()).text(width=width).lstrip("\n")

    def to_dict(self) -> dict[str, Any]:
        """The numbers of the table, one per seed, as `recombine demo --json` prints them."""
        names = ("error_in", "error_out", "accuracy1_in", "accuracy1_out", "with_superposition", "with_truth")
        return {
            "version": __version__,
            "methods": {
                method: {"seeds": list(arm.seeds), "status": list(arm.status)}
                | {name: arm[name].tolist() for name in names}
                for method, arm in self.evidence.items()
            },
        }

    def __repr__(self) -> str:
        errors = ", ".join(f"{method} {e.unseen_error_alone}" for method, e in self.estimates.items())
        return f"DemoResult(unseen error: {errors})"

    def __str__(self) -> str:
        return Document(TITLE, _task_text(), self._results()).text()

    def _results(self) -> list[Section]:
        """What terminal and page share."""
        return [Section("", [self._table()]), Section("", [self._failure_text(), self._remedies_text()])]

    def _table(self) -> Table:
        columns = [Column("")]
        columns += [Column(side, "right", "error (blank image = 1)") for side in ("seen", "unseen")]
        columns += [Column(side, "right", "bump in place") for side in ("seen", "unseen")]
        rows = [
            Row(
                [
                    method,
                    e.seen_error_text,
                    e.unseen_error_text,
                    e.seen_position_text,
                    e.unseen_position_text,
                ]
            )
            for method, e in self.estimates.items()
        ]
        seeds = plural(len(self.evidence[METHODS[0]].seeds), "seed")
        return Table(columns, rows, caption=f"Median over {seeds}, with their range in brackets.")

    def _failure_text(self) -> str:
        """Why the standard decoder fails, or that it did not."""
        standard, estimates = self.evidence[METHODS[0]], self.estimates[METHODS[0]]
        error = estimates.unseen_error_alone
        if not estimates.unseen_error > FAILURE:
            return f"The standard decoder did not fail here: its unseen error is {error} of a blank image's."
        sums, target = _median(standard["with_superposition"]), _median(standard["with_truth"])
        if not sums > target + SUPERPOSITION_LEAD:
            return f"**The standard decoder fails**: its unseen error is {error} of a blank image's."
        return (
            "**Why the standard decoder fails**: on unseen combinations it draws a sum of training images with the "
            f"same x or the same y (correlation {sums:.2f} with that sum, {target:.2f} with the target)."
        )

    def _remedies_text(self) -> str:
        standard = self.estimates[METHODS[0]]
        helpful = [
            (name, self.estimates[method].unseen_error_alone)
            for method, name in REMEDIES.items()
            if standard.unseen_error > GAIN * self.estimates[method].unseen_error
        ]
        if not helpful:
            return "Neither remedy helped here."
        (first, error), *rest = helpful
        text = (
            f"**What helps**: {first} lowers the unseen error from {standard.unseen_error_alone} to {error}"
        )
        return text + "".join(f", {name} to {other}" for name, other in rest) + "."

    def _layers_text(self) -> list[Block]:
        """What happens to the factors inside the standard decoder; empty unless they stay readable but squeezed."""
        standard, striped = self.evidence[METHODS[0]], self.evidence[METHODS[2]]
        r2 = _median(standard["r2_held_out"][:, 1:-1].min(axis=(1, 2)))
        volume, striped_volume = (10 ** _median(arm["volume_gap"][:, -1]) for arm in (standard, striped))
        if not (r2 > READABLE and volume < SQUEEZED):
            return []
        floor = math.floor(r2 * 100 - 1e-9) / 100  # rounded down, so that "R² > 0.99" is true
        return [
            f"x and y can be decoded from every layer of the standard decoder (R² > {floor:.2f}), but layer by layer "
            f"the unseen region is squeezed: in the image its volume is {volume:.2f} times that of the seen region "
            f"(with stripes {striped_volume:.2f} times)."
        ]


ADVICE = (
    "**If you design data**: a few images of each factor alone can replace a very large number of combinations.",
    "**If you design nets**: keep the factors apart up to the space in which they are combined. A disentangled input "
    "code is not enough.",
    "**If you have to trust a model**: test it on combinations that were not in training, and compare its error with "
    "that of a blank prediction, not only with zero.",
)


def _median(values: np.ndarray) -> float:
    """The median over the seeds that did not diverge."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else math.nan


def _task_text() -> str:
    split = demo_split()
    return (
        f"Task: {SIZE} x {SIZE} images of one bump at (x, y). Training covers every x and every y, but leaves out "
        f"{split.unseen.sum()} of the {split.space.n_cells} combinations (a square hole in the middle). Can a decoder "
        "draw combinations it has never seen?"
    )


def task_statement(*, width: int | None = None) -> str:
    """What the terminal shows before training starts: the version and the task."""
    return f"recombine {__version__} · demo\n\n{Document(TITLE, _task_text(), []).text(width=width)}\n"


def run_demo(
    *,
    scale: Scale = "quick",
    seed_offset: int = 0,
    store: Path | None = None,
    jobs: int = 2,
    quiet: bool = False,
) -> DemoResult:
    """Trains the three methods, or reads them from the store.

    **Arguments:**

    - `scale`: `"quick"`, or `"smoke"` for tests.
    - `seed_offset`: added to every seed.
    - `store`: the folder of the store.
    - `jobs`: worker processes.
    - `quiet`: show no progress.
    """
    groups = {method: plan.trials(offset=seed_offset) for method, plan in arms(scale).items()}
    with TrialProgress(cost, unit="seed", quiet=quiet) as progress:
        progress.expect(groups)
        return DemoResult(gather(groups, scale, store=Store(store), jobs=jobs, cost=cost, on_event=progress))
