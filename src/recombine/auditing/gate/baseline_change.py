"""What got better or worse since an earlier audit, beyond noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.auditing.comparison.paired_difference import (
    PairedDifference,
    change_sentence,
    paired_difference,
    unpaired_difference,
)
from recombine.auditing.findings import FINDINGS
from recombine.auditing.gate.baseline import Baseline, read_baseline, read_estimate, read_number
from recombine.auditing.gate.quantities import output_title
from recombine.auditing.gate.stored_cells import StoredCells, outputs_judged, read_cells
from recombine.auditing.wrong_cells import is_wrong
from recombine.errors import InputError
from recombine.intervals import Estimate, one_of_several
from recombine.report import count, plain_level

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


@dataclass(frozen=True)
class FindingChange:
    """A finding whose status is another than before."""

    title: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class BaselineChange:
    """An audit compared with an earlier one.

    **Attributes:**

    - `name`: of the baseline; `unseen`, `seen`: the errors then and now.
    - `by_output`: the errors on unseen cells of every output that both have, unpaired.
    - `findings`: those whose status changed.
    - `broken`, `repaired`: unseen cells that were right and are wrong, and the other way round, by their levels.
    - `notes`: what was compared with what.
    """

    name: str
    unseen: PairedDifference
    seen: PairedDifference
    by_output: Mapping[str, PairedDifference]
    findings: Sequence[FindingChange]
    broken: Sequence[Mapping[str, Any]]
    repaired: Sequence[Mapping[str, Any]]
    notes: Sequence[str]

    @property
    def paired(self) -> bool:
        """Whether the same cells were compared."""
        return self.unseen.paired

    @property
    def sentence(self) -> str:
        """What changed since when, in words."""
        return f"Since {self.name}: {self.change}."

    @property
    def change(self) -> str:
        """What changed, in words."""
        if not self.by_output or self.unseen.cells:
            return change_sentence(self.unseen, self.seen)
        parts = [
            f"{word} on unseen combinations in {', '.join(map(output_title, names))}"
            for word, names in (
                ("better", [name for name, one in self.by_output.items() if one.better]),
                ("worse", [name for name, one in self.by_output.items() if one.worse]),
            )
            if names
        ]
        return "; ".join(parts) or "no output differs beyond noise"

    def rises(self, subject: str) -> dict[str, Estimate]:
        """The rises of errors that a condition is about, by what they are errors of."""
        parts = {
            "worse-unseen": {"error on unseen cells": self.unseen.difference},
            "worse-seen": {"error on seen cells": self.seen.difference},
        }
        chosen = parts.get(subject) or (parts["worse-unseen"] | parts["worse-seen"])
        if self.by_output and np.isnan(self.unseen.difference.value) and subject != "worse-seen":
            chosen = {
                f"error on unseen cells of {output_title(name)}": one.difference
                for name, one in self.by_output.items()
            }
        return {
            f"rise of the {name} since {self.name}": one_of_several(one, len(chosen))
            for name, one in chosen.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return {
            "name": self.name,
            "sentence": self.sentence,
            "unseen": self.unseen.to_dict(),
            "seen": self.seen.to_dict(),
            "by_output": {name: one.to_dict() for name, one in self.by_output.items()},
            "findings": [vars(one) for one in self.findings],
            "right_to_wrong": [_plain(cell) for cell in self.broken],
            "wrong_to_right": [_plain(cell) for cell in self.repaired],
            "notes": list(self.notes),
        }


def compare_with_baseline(
    report: AuditReport, baseline: Any, *, model: str = "", seed: int = 0, field: str = "baseline"
) -> BaselineChange:
    """What changed since an earlier audit of the same table, or of one with the same factors.

    **Arguments:**

    - `baseline`: a JSON file, what `to_dict()` returned, or an earlier report.
    - `model`: which of the baseline's models this one is compared with, if it has several.
    """
    earlier = read_baseline(baseline, field)
    plain = earlier.of(model or report.model)
    if plain is None:
        got = f"{earlier.name} about the models {', '.join(earlier.audits)}"
        raise InputError(field, got, f"one audit, or a model called {model or report.model!r}")
    names = report.table.space.names
    factors: Mapping[str, Any] = plain["factors"]
    if set(factors) != set(names):
        got = f"{earlier.name} about the factors {', '.join(map(str, factors))}"
        raise InputError(field, got, f"an audit of the same factors: {', '.join(names)}")
    errors = plain["errors"]
    now = None if report.scores is None else report.scores.measure
    if errors.get("measure") is not None and now is not None and errors["measure"] != now:
        got = f"{earlier.name}, which measured the {str(errors['measure'])[:60]}"
        raise InputError(field, got, f"an audit with the same measure: {now}")
    notes: list[str] = []
    unseen = seen = None
    broken: list[dict[str, Any]] = []
    repaired: list[dict[str, Any]] = []
    outputs = plain["cells"].get("outputs", []) if isinstance(plain.get("cells"), Mapping) else None
    other_outputs = outputs is not None and outputs != list(outputs_judged(report))
    if other_outputs:
        notes.append("the two audits are about different outputs, so outputs are compared one by one")
    elif report.outputs is not None and outputs is not None:
        stored = read_cells(field, plain["cells"], factors, report.table.space)
        if not len(stored.codes):
            raise InputError(field, f"{earlier.name} without a cell in common", "an audit of the same cells")
        unseen, seen, broken, repaired = _by_cell(
            report, stored, notes, seed, read_number(errors.get("constant_on_seen"))
        )
    if unseen is None or seen is None:
        weighting = errors.get("weighting", "cells")
        if report.scores is not None and weighting != report.scores.weighting:
            got = f"{earlier.name}, whose means weigh {str(weighting)[:20]}, without errors of cells"
            raise InputError(field, got, f"an audit that weighs {report.scores.weighting}")
        unseen, seen = _unpaired(report, errors, notes, nothing=other_outputs)
    return BaselineChange(
        earlier.name,
        unseen,
        seen,
        _outputs(report, errors),
        _findings(report, plain["findings"]),
        broken,
        repaired,
        notes,
    )


def _by_cell(
    report: AuditReport, stored: StoredCells, notes: list[str], seed: int, scale: float
) -> tuple[PairedDifference, PairedDifference, list[dict[str, Any]], list[dict[str, Any]]]:
    """Differences over the cells that both audits have, and that were seen, or unseen, in both."""
    cells = report.by_cell
    codes = np.ravel_multi_index(tuple(cells.cells.T), cells.sizes)
    common, now, then = np.intersect1d(codes, stored.codes, return_indices=True)
    known = np.isfinite(cells.error[now]) & np.isfinite(stored.error[then])
    groups = {
        "seen": known & cells.seen[now] & stored.seen[then],
        "unseen": known & ~cells.seen[now] & ~stored.seen[then] & cells.familiar[now] & stored.familiar[then],
    }
    moved = int((cells.seen[now] != stored.seen[then]).sum())
    if len(common) < len(codes) or len(common) < len(stored.codes) + stored.strange:
        others = len(codes) - len(common), len(stored.codes) + stored.strange - len(common)
        notes.append(
            f"only the {count(len(common), 'common cell')} {'is' if len(common) == 1 else 'are'} compared; "
            f"{others[0]:,} of this table and {others[1]:,} of the baseline are not"
        )
    if moved:
        notes.append(f"{count(moved, 'cell')} left out: seen in one of the two audits, unseen in the other")
    if not np.isfinite(scale):
        scale = float(np.nanmean(cells.error_of_constant))
    differences = [
        paired_difference(
            stored.error[then][groups[name]],
            cells.error[now][groups[name]],
            scale=scale,
            weights=cells.weights[now][groups[name]],
            units=cells.unit[now][groups[name]],
            seed=seed,
        )
        for name in ("seen", "unseen")
    ]
    wrong, was_wrong = is_wrong(cells)[now], stored.wrong[then]
    changed = [
        [report.table.describe(cells.cells[now[i]]) for i in np.flatnonzero(groups["unseen"] & mask)]
        for mask in (wrong & ~was_wrong, ~wrong & was_wrong)
    ]
    return differences[1], differences[0], changed[0], changed[1]


def _unpaired(
    report: AuditReport, errors: Mapping[str, Any], notes: list[str], *, nothing: bool
) -> tuple[PairedDifference, PairedDifference]:
    """Differences of the means, if the errors of single cells are not known."""
    scores = report.scores
    unknown = Estimate(np.nan, np.nan, np.nan)
    if nothing or scores is None:
        missing = unpaired_difference(unknown, unknown, 0)
        return missing, missing
    notes.append(
        "unpaired: the baseline has no errors of single cells, so its mean errors and their intervals are compared"
    )
    return (
        unpaired_difference(read_estimate(errors.get("unseen")), scores.unseen, scores.cells_unseen),
        unpaired_difference(read_estimate(errors.get("seen")), scores.seen, scores.cells_seen),
    )


def _outputs(report: AuditReport, errors: Mapping[str, Any]) -> dict[str, PairedDifference]:
    listed = errors.get("by_output")
    before = {
        one["name"]: read_estimate(one.get("unseen"))
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, Mapping) and isinstance(one.get("name"), str)
    }
    return {
        name: unpaired_difference(before[name], one.unseen, one.cells_unseen)
        for name, one in zip(report.by_output.names, report.by_output.scores, strict=True)
        if name in before
    }


def _findings(report: AuditReport, earlier: Sequence[Any]) -> list[FindingChange]:
    before = {
        one["id"]: _status(one)
        for one in earlier
        if isinstance(one, Mapping) and isinstance(one.get("id"), str)
    }
    return [
        FindingChange(FINDINGS[one.id].title, before[one.id], one.status)
        for one in report.findings
        if one.id in before and before[one.id] != one.status
    ]


def _status(plain: Mapping[str, Any]) -> str:
    if plain.get("applicable") is False:
        return "n/a"
    holds = plain.get("holds")
    return "yes" if holds is True else "no" if holds is False else "unclear"


def _plain(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain_level(level) for name, level in cell.items()}


__all__ = ["Baseline", "BaselineChange", "FindingChange", "compare_with_baseline"]
