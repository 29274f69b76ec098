"""What could mislead a reader of the numbers; each is told only where it applies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.modularity.phrases import few_numbers, layer_numbers, place_name
from recombine.probes.connectivity import influence
from recombine.report import fixed, number, percent

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

NEAR_ZERO = 0.5
"""Eigenvalue K above this is far from zero: modular nets have less than 0.45, random weights more than 0.9."""
TIGHT = 0.95
"""A layer's score from which its modules are beyond doubt."""
UNEQUAL = 4
"""Modules are unequal if the largest has this many times the live hidden units of the smallest."""
COSTLY = 10
"""Cutting modules apart is costly if it multiplies the error by this, and the error is then not small."""
SMALL_ERROR = 0.05
"""A small error, as a share of that of a constant answer."""


CROSSED = 2
"""An output is another module's if that one's inputs reach it so many times as much as its own module's."""


@dataclass(frozen=True)
class Pitfall:
    """Something to keep in mind: its code (`M1` ...) and one sentence."""

    code: str
    message: str


def pitfalls(report: ModularityReport) -> list[Pitfall]:
    """All that apply, in the order of their codes."""
    return [
        Pitfall(code, message)
        for code, found in (
            ("M1", _dead(report)),
            ("M2", _two(report)),
            ("M3", _unequal(report)),
            ("M4", _missing(report)),
            ("M5", _by_chance(report)),
            ("M6", _gap(report)),
            ("M7", _cosine(report)),
            ("M8", _no_spectra(report)),
            ("M9", _crossed(report)),
            ("M10", _unconnected(report)),
            ("M11", _costly(report)),
            ("M12", _useless(report)),
        )
        for message in found
    ]


def _dead(report: ModularityReport) -> Iterator[str]:
    """Cosines make a dead unit similar to all others, so counting it would hide modules."""
    dead = [int((~mask).sum()) for mask in report.live]
    if not any(dead):
        return
    places = [
        f"{lost} of {len(mask)} in {place_name(report, place)}"
        for place, (lost, mask) in enumerate(zip(dead, report.live, strict=True))
        if lost
    ]
    most = sum(dead) > sum(len(mask) for mask in report.live[1:-1]) / 2
    thin = "; most of the net is dead, so its circuits are thin" if most else ""
    yield (
        f"dead units were left out ({', '.join(places)}; weaker than {percent(report.threshold)} of "
        f"their layer's strongest, or not reached){thin}"
    )


def _two(report: ModularityReport) -> Iterator[str]:
    if report.modules == 2:
        yield (
            "with two modules even ordinary nets look modular (85 to 94 % within modules is common); hold it against "
            "an ordinarily trained net, or a task with more modules"
        )


def _unequal(report: ModularityReport) -> Iterator[str]:
    hidden = report.sizes[1:-1].sum(axis=0)
    if report.modules < 2 or not len(report.sizes[1:-1]) or not hidden.min():
        return
    if hidden.max() >= UNEQUAL * hidden.min():
        yield (
            f"modules are very unequal ({hidden.min()} to {hidden.max()} hidden units), so chance is high and Newman "
            f"modularity cannot exceed {fixed(report.newman.largest, 2)}; look at the scores"
        )


def _missing(report: ModularityReport) -> Iterator[str]:
    gone = [
        (module, place)
        for module in range(report.modules)
        for place in range(len(report.sizes))
        if not report.sizes[place, module]
    ]
    if report.modules < 2 or not gone:
        return
    module, place = gone[0]
    more = f" (and {len(gone) - 1} more such gaps)" if len(gone) > 1 else ""
    cause = (
        "a layer reached by none of its inputs"
        if report.source == "inputs"
        else "found modules may be pieces of a deep net by depth, or too many; try another number of modules"
    )
    yield f"module {module} has no unit among {place_name(report, place)}{more}: {cause}"


def _by_chance(report: ModularityReport) -> Iterator[str]:
    from recombine.modularity.verdict import LEAST_Z

    z, least = report.newman.searched.z, LEAST_Z
    if report.modules < 2:
        return
    if np.isnan(z) or np.isnan(report.newman.kept.z):
        yield "z is undefined: all shuffled nets have the same Newman modularity, as with equal weights or few units"
    if z < least:
        yield (
            f"shuffled weights have modules as good as these (z {fixed(z, 2)}; {fixed(least, 0)} would be "
            "enough), so these may be there by chance"
        )


def _gap(report: ModularityReport) -> Iterator[str]:
    if report.collapsed is None or report.modules < 2:
        return
    last = report.collapsed[:, report.modules - 1]
    far = [
        layer for layer in range(len(last)) if last[layer] > NEAR_ZERO and not report.score[layer] >= TIGHT
    ]
    if far:
        k = report.modules
        yield (
            f"collapsed spectra have λ{k + 1} = 1 and so a gap after λ{k} whatever the weights; look at λ{k} itself, "
            f"which is far from 0 in {layer_numbers(far)} (up to {fixed(float(last[far].max()), 2)})"
        )


def _cosine(report: ModularityReport) -> Iterator[str]:
    if report.collapsed is None or report.modules < 2:
        return
    last = report.collapsed[:, report.modules - 1]
    far = [layer for layer in range(len(last)) if last[layer] > NEAR_ZERO and report.score[layer] >= TIGHT]
    if far:
        yield (
            f"λ{report.modules} is up to {fixed(float(last[far].max()), 2)} in {layer_numbers(far)} although nearly "
            "all weight there lies within modules: cosines ignore size, so weak units count as much as strong ones; "
            "trust the share of weight"
        )


def _no_spectra(report: ModularityReport) -> Iterator[str]:
    if report.collapsed is None:
        live = [int(mask.sum()) for mask in report.live]
        small = min(range(1, len(live)), key=live.__getitem__)
        yield (
            f"spectra were left out: {place_name(report, small)} has {live[small]} live units, fewer than "
            f"{report.modules} modules"
        )


def _crossed(report: ModularityReport) -> Iterator[str]:
    """Outputs whose module was given, but which another module's inputs reach more."""
    if report.source != "inputs":
        return
    reached = influence(report.weights, report.labels[0].tolist(), live=report.live)[-1]
    reached = reached / np.maximum(reached.sum(axis=0), np.finfo(float).tiny)
    own = reached[np.arange(len(reached)), report.labels[-1]]
    other = np.flatnonzero(reached.max(axis=1) > CROSSED * own)
    if len(other):
        yield (
            f"output{'s' if len(other) > 1 else ''} {few_numbers(other)}: inputs of another module reach "
            f"{'them' if len(other) > 1 else 'it'} far more than those of the module given; "
            "are outputs in the right order?"
        )


def _unconnected(report: ModularityReport) -> Iterator[str]:
    for name, idle in (
        ("input", ~np.abs(report.weights[0]).any(axis=1)),
        ("output", ~np.abs(report.weights[-1]).any(axis=0)),
    ):
        if idle.any():
            found = np.flatnonzero(idle)
            has = "s have" if len(found) > 1 else " has"
            yield f"{name}{has} no connection ({few_numbers(found)}), so the module of such a unit means nothing"


def _costly(report: ModularityReport) -> Iterator[str]:
    done = report.behaviour
    if done is None or done.ratio is None or done.pruned is None or done.constant is None:
        return
    costly = done.ratio >= COSTLY and done.pruned > SMALL_ERROR * done.constant
    if costly and report.verdict.word == "modular":
        yield (
            f"weights between modules are small but needed: without them the error is {number(done.ratio)} times as "
            f"large ({number(done.pruned)}; a constant answer has {number(done.constant)})"
        )


def _useless(report: ModularityReport) -> Iterator[str]:
    done = report.behaviour
    if done is None or done.error is None or done.constant is None:
        return
    if done.error >= done.constant:
        yield (
            f"the net's error ({number(done.error)}) is not below that of a constant answer ({number(done.constant)}): "
            "do weights, biases, activation and data belong together?"
        )
