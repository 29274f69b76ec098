"""What could mislead a reader of the numbers; each pitfall is mentioned only where it applies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.metrics.connectivity import influence
from recombine.modularity.verdict import MIN_Z
from recombine.report import count, fixed, number, number_ranges, percent
from recombine.report.figures.weight_maps import unit_layer_names

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

NEAR_ZERO = 0.5
"""Eigenvalue K is far from zero above this: modular nets have less than 0.45, random weights more than 0.9."""
TIGHT = 0.95
"""A layer's score from which its modules are beyond doubt."""
UNEQUAL = 4
"""Modules are unequal if the largest has this many times the live hidden units of the smallest."""
COSTLY = 10
"""Separating modules is costly if it multiplies the error by this, and the error is then not small."""
SMALL_ERROR = 0.05
"""A small error, as a share of that of a constant prediction."""
CROSSED = 2
"""An output belongs elsewhere if another module's inputs reach it this many times as much as its own module's."""


@dataclass(frozen=True)
class Pitfall:
    """Something to keep in mind: its code (`M1`, `M2`, ...) and one sentence."""

    code: str
    message: str


def pitfalls(report: ModularityReport) -> list[Pitfall]:
    """All that apply, in the order of their codes."""
    return [
        Pitfall(code, message)
        for code, messages in (
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
            ("M13", _ambiguous_orientation(report)),
        )
        for message in messages
    ]


def _dead(report: ModularityReport) -> Iterator[str]:
    """Cosines make a dead unit similar to all others, so counting it would hide modules."""
    names = unit_layer_names(len(report.live))
    dead = [int((~mask).sum()) for mask in report.live]
    if not any(dead):
        return
    where = [
        f"{lost} of {len(mask)} in {name}"
        for lost, mask, name in zip(dead, report.live, names, strict=True)
        if lost
    ]
    mostly_dead = sum(dead) > sum(len(mask) for mask in report.live[1:-1]) / 2
    few = "; most of the net is dead, so only few units carry its function" if mostly_dead else ""
    yield (
        f"dead units were left out ({', '.join(where)}; weaker than {percent(report.threshold)} of the strongest, or "
        f"not reached by any input){few}"
    )


def _two(report: ModularityReport) -> Iterator[str]:
    if report.modules == 2:
        yield (
            "with two modules even ordinary nets look modular (85 to 94% within modules is common); compare with an "
            "ordinarily trained net, or use a task with more modules"
        )


def _unequal(report: ModularityReport) -> Iterator[str]:
    hidden = report.sizes[1:-1].sum(axis=0)
    if report.modules < 2 or not len(report.sizes[1:-1]) or not hidden.min():
        return
    if hidden.max() >= UNEQUAL * hidden.min():
        yield (
            f"modules are very unequal ({hidden.min()} to {hidden.max()} hidden units), so chance is high and Newman "
            f"modularity cannot exceed {fixed(report.newman.largest, 2)}; rely on the scores"
        )


def _missing(report: ModularityReport) -> Iterator[str]:
    gaps = np.argwhere(report.sizes.T == 0)
    if report.modules < 2 or not len(gaps):
        return
    module, layer = gaps[0]
    more = f" (and {count(len(gaps) - 1, 'more such gap')})" if len(gaps) > 1 else ""
    cause = (
        "none of its inputs reaches that layer"
        if report.source == "inputs"
        else "the modules may be pieces of a deep net by depth, or too many; try another number of modules"
    )
    yield f"module {module} has no unit among {unit_layer_names(len(report.live))[layer]}{more}: {cause}"


def _by_chance(report: ModularityReport) -> Iterator[str]:
    z = report.newman.searched.z
    if report.modules < 2 or report.is_disconnected:
        return
    if np.isnan(z) or np.isnan(report.newman.kept.z):
        yield "z is undefined: all shuffled nets have the same Newman modularity, as with equal weights or few units"
    if z < MIN_Z:
        yield (
            f"shuffled weights have modules as good as these (z {fixed(z, 2)}; {fixed(MIN_Z, 0)} would be "
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
            f"collapsed spectra have λ{k + 1} = 1 and so a gap after λ{k} for any weights; look at λ{k} itself, "
            f"which is far from 0 in {_layers(far)} (up to {fixed(float(last[far].max()), 2)})"
        )


def _cosine(report: ModularityReport) -> Iterator[str]:
    if report.collapsed is None or report.modules < 2:
        return
    last = report.collapsed[:, report.modules - 1]
    far = [layer for layer in range(len(last)) if last[layer] > NEAR_ZERO and report.score[layer] >= TIGHT]
    if far:
        yield (
            f"λ{report.modules} is up to {fixed(float(last[far].max()), 2)} in {_layers(far)} although nearly "
            "all weight there lies within modules: cosines ignore size, so weak units count as much as strong ones; "
            "rely on the share of weight"
        )


def _no_spectra(report: ModularityReport) -> Iterator[str]:
    if report.collapsed is None:
        live = [int(mask.sum()) for mask in report.live]
        smallest = min(range(1, len(live)), key=live.__getitem__)
        yield (
            f"spectra were left out: {unit_layer_names(len(live))[smallest]} has "
            f"{count(live[smallest], 'live unit')}, fewer than {report.modules} modules"
        )


def _crossed(report: ModularityReport) -> Iterator[str]:
    """Outputs with a known module that another module's inputs reach more."""
    if report.source != "inputs":
        return
    reached = influence(report.weights, report.labels[0].tolist(), live=report.live)[-1]
    reached = reached / np.maximum(reached.sum(axis=0), np.finfo(float).tiny)
    own = reached[np.arange(len(reached)), report.labels[-1]]
    other = np.flatnonzero(reached.max(axis=1) > CROSSED * own)
    if len(other):
        yield (
            f"output{'s' if len(other) > 1 else ''} {number_ranges(other)}: inputs of another module reach "
            f"{'them' if len(other) > 1 else 'it'} far more than those of the stated module; "
            "are the outputs in the right order?"
        )


def _unconnected(report: ModularityReport) -> Iterator[str]:
    for name, idle in (
        ("input", ~np.abs(report.weights[0]).any(axis=1)),
        ("output", ~np.abs(report.weights[-1]).any(axis=0)),
    ):
        if idle.any():
            units = np.flatnonzero(idle)
            has = "s have" if len(units) > 1 else " has"
            yield f"{name}{has} no connection ({number_ranges(units)}), so the module of such a unit is arbitrary"


def _costly(report: ModularityReport) -> Iterator[str]:
    test = report.separability
    if test is None or test.ratio is None or test.pruned is None or test.constant is None:
        return
    costly = test.ratio >= COSTLY and test.pruned > SMALL_ERROR * test.constant
    if costly and report.verdict.word == "modular":
        yield (
            f"weights between modules are small but needed: without them the error is {number(test.ratio)} times as "
            f"large ({number(test.pruned)}; a constant prediction has {number(test.constant)})"
        )


def _useless(report: ModularityReport) -> Iterator[str]:
    test = report.separability
    if test is None or test.error is None or test.constant is None:
        return
    if test.error >= test.constant:
        yield (
            f"the net's error ({number(test.error)}) is not below that of a constant prediction "
            f"({number(test.constant)}): do weights, biases, activation and data belong together?"
        )


def _ambiguous_orientation(report: ModularityReport) -> Iterator[str]:
    """Square matrices fit together transposed as well, and a transposed net is another net."""
    if report.orientation_source == "assumed":
        yield (
            "the shapes of the matrices fit both ways; they were read as inputs x outputs. If they are outputs x "
            "inputs, as in PyTorch, state orientation='outputs-first' (--orientation outputs-first)"
        )


def _layers(layers: Sequence[int]) -> str:
    """Layers, counted from 1: "layer 2", "layers 1–3, 6"."""
    return f"layer{'s' if len(layers) > 1 else ''} {number_ranges([layer + 1 for layer in layers])}"
