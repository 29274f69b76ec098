"""Findings from layers, weights and derivatives: what goes on inside the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recombine.advice.leak import retention
from recombine.auditing.cells import Cells
from recombine.auditing.finding import Finding, open_finding, plain
from recombine.auditing.layers import Layer, Layers
from recombine.auditing.resampling import UNKNOWN, Estimate, widened
from recombine.errors import InputError
from recombine.modularity import ModularityReport, modularity_report
from recombine.modularity.reading import read_net
from recombine.probes.interaction import InteractionProfile, interaction_profile
from recombine.report import fixed, percent
from recombine.theory import OverlapKernel

READABLE = 0.8
"""A factor can be read from a layer if at least this share of it is predicted for cells that were left out."""
MIXED_UP = 0.1
"""Factors are mixed up if the factorisation score falls by at least this,"""
SURELY_MIXED_UP = 0.03
"""and by at least this with 95 % confidence."""
WARPED = 0.3
"""A layer is warped if unseen cells take up at least twice (10^0.3) or at most half the volume of seen cells,"""
SURELY_WARPED = 0.1
"""and 1.25 times (10^0.1) with 95 % confidence, both beside the volumes of the input."""
KEPT = 0.8
"""Saliences stress whole combinations if less than this share of an answer is forecast to remain on unseen cells."""
MOST_UNITS = 2500
"""Units up to which modules are searched during an audit."""
INTERACTS = 0.05
"""Share of second derivatives across parts above which they interact."""

NO_LAYERS = "It needs the activity of layers: give a model with its inputs, or activations."
FAILED = "The model raised an error before its layers could be read."
UNREADABLE = (
    "The layers of this model cannot be seen; give layers={'name': function of the inputs} or activations."
)


def re_entanglement(layers: Layers | None, names: Sequence[str], why_none: str) -> Finding:
    """Does the factorisation score fall from some layer on while factors stay readable?"""
    id, means = "re_entanglement", "fall of the factorisation score"
    if layers is None or not layers.hidden:
        return open_finding(id, why_none, means)
    hidden = [layer for layer in layers.hidden if np.isfinite(layer.factorisation.value)]
    if len(names) < 2 or not hidden:
        return open_finding(id, _no_geometry(names), means)
    earlier = [layer for layer in layers if layer.name != "output" and np.isfinite(layer.factorisation.value)]
    worst: tuple[float, Layer, Layer] | None = None
    for layer in hidden:
        earlier_ones = earlier[: earlier.index(layer)]
        if not earlier_ones or not (layer.readable >= READABLE).all():
            continue
        reference = max(earlier_ones, key=lambda one: one.factorisation.value)
        fall = reference.factorisation.value - layer.factorisation.value
        if worst is None or fall > worst[0]:
            worst = (fall, reference, layer)
    if worst is None:
        unread = [layer for layer in hidden if not (layer.readable >= READABLE).all()]
        if np.isnan(hidden[0].readable).any():
            why = "There are too few cells to tell whether factors can be read from layers; a dozen would do."
            return open_finding(id, why, means)
        if unread and len(hidden) > 1:
            why = (
                f"Not all factors can be read from the layers ({_reading(unread[0], names)}), so there is nothing to "
                "be mixed up."
            )
            return Finding(id, False, UNKNOWN, means, why, _curve(layers))
        return open_finding(id, "It takes two layers, or inputs and a layer, to see a score fall.", means)
    fall, reference, layer = worst
    n = len(layers.placed)
    estimate = widened(fall, reference.factorisation_draws - layer.factorisation_draws, n)
    needed = np.isfinite(layers.targets.value) and layer.factorisation.value >= layers.targets.value - 0.05
    room = min(float(layer.units), reference.dimension)
    narrow = layer.factorisation.value >= random_factorisation(room) - 0.05
    needed = needed or narrow
    before, after = reference.factorisation.value, layer.factorisation.value
    from_to = f"{fixed(before, 2)} in '{reference.name}' to {fixed(after, 2)}"
    holds = bool(fall >= MIXED_UP and estimate.low >= SURELY_MIXED_UP and not needed)
    if holds:
        why = (
            f"Factors can be read from every layer, but from '{layer.name}' on they no longer move it in independent "
            f"directions: the factorisation score falls from {from_to} (1 is independent, 0.5 one and the same)."
        )
    elif fall >= MIXED_UP and not needed:
        why = f"The factorisation score falls from {from_to}, but too few cells say so; more would decide."
        return Finding(id, None, estimate, means, why, _curve(layers))
    else:
        as_far = " as far as so few dimensions allow" if narrow else " as far as the targets ask for"
        same = as_far if needed and fall >= MIXED_UP else ""
        why = f"Where factors can be read, they stay independent{same}: the score is {from_to} in '{layer.name}'."
    return Finding(id, holds, estimate, means, why, _curve(layers) | {"layer": layer.name})


def random_factorisation(dimension: float) -> float:
    """The factorisation score of random directions in d dimensions: 1 - E|cos| / 2, with E|cos| = sqrt(2 / (pi d)).

    ```python
    >>> from recombine.auditing.inside import random_factorisation
    >>> [round(random_factorisation(d), 2) for d in (2, 8, 512)]
    [0.72, 0.86, 0.98]

    ```
    """
    return 1 - 0.5 * float(np.sqrt(2 / (np.pi * max(dimension, 1.0))))


def warped_geometry(layers: Layers | None, names: Sequence[str], why_none: str) -> Finding:
    """Is a layer stretched or squeezed where it was not trained?"""
    id, means = "warped_geometry", "log10 volume of unseen cells over that of seen cells, beside the input's"
    if layers is None or not layers.hidden:
        return open_finding(id, why_none, means)
    hidden = [layer for layer in layers.hidden if np.isfinite(layer.volume_gap.value)]
    if not hidden:
        return open_finding(id, _no_geometry(names), means)
    first = layers.layers[0]
    base = first if first.name == "input" and np.isfinite(first.volume_gap.value) else None
    n = min(int(layers.placed_seen.sum()), int((~layers.placed_seen).sum()))

    def gap(layer: Layer) -> Estimate:
        own, draws = layer.volume_gap.value, layer.volume_gap_draws
        return widened(
            own - (base.volume_gap.value if base else 0.0),
            draws - (base.volume_gap_draws if base else 0.0),
            n,
        )

    gaps = {layer.name: gap(layer) for layer in hidden}
    name = max(gaps, key=lambda one: abs(gaps[one].value))
    worst = gaps[name]
    size = abs(worst.value)
    surely = min(abs(worst.low), abs(worst.high)) if worst.low * worst.high > 0 else 0.0
    details = {"layer": name, "gaps": {key: plain(one.value) for key, one in gaps.items()}}
    times = f"{10**size:.1f} times {'as much' if worst.value > 0 else 'less'} room"
    if size >= WARPED and surely >= SURELY_WARPED:
        why = (
            f"Layer '{name}' gives unseen combinations {times} {'as' if worst.value > 0 else 'than'} seen ones: "
            "it has been bent to fit what was trained."
        )
        return Finding(id, True, worst, means, why, details)
    if size >= WARPED:
        why = f"Layer '{name}' seems to give unseen combinations {times}, but too few cells say so; more would decide."
        return Finding(id, None, worst, means, why, details)
    why = (
        f"Beside the input no layer gives unseen combinations much more or less room than seen ones: at most "
        f"{10**worst.value:.2f} times as much, in '{name}' (warped would be 2 or 0.5)."
    )
    return Finding(id, False, worst, means, why, details)


def salience(layers: Layers | None, cells: Cells, train: np.ndarray, slope: float, why_none: str) -> Finding:
    """Does the last hidden layer stress whole combinations, and what does the kernel theory forecast from that?"""
    id, means = "salience", "forecast share of an answer that remains on unseen cells"
    if layers is None or not layers.hidden:
        return open_finding(id, why_none, means)
    layer = layers.hidden[-1]
    profile = {one.name: _shares(one) for one in layers.hidden}
    if layer.salience is None:
        why = f"The saliences of '{layer.name}' cannot be estimated ({layer.why_no_salience})."
        return open_finding(id, why, means)
    if len(cells.sizes) < 2:
        return open_finding(id, "It is about combinations of two factors or more.", means)
    rng = np.random.default_rng(73)
    targets = cells.cells[~cells.seen & cells.familiar]
    targets = (
        targets if len(targets) <= 300 else targets[np.sort(rng.choice(len(targets), 300, replace=False))]
    )
    shown = train if len(train) <= 1500 else train[np.sort(rng.choice(len(train), 1500, replace=False))]
    found = layer.salience
    centre = OverlapKernel.from_salience(np.maximum(found.kernel.salience, 0))
    if not _has_parts(centre):
        why = (
            f"In '{layer.name}' cells are alike only if they are identical, so that parts carry nothing over."
        )
        return Finding(
            id, True, Estimate(0.0, 0.0, 0.0), means, why, {"layer": layer.name, "shares_by_order": profile}
        )
    kernels = [centre, *_ends(found.interval)]
    kept = [float(np.median(one)) for one in retention(kernels, shown, targets, cells.sizes)]
    estimate = Estimate(kept[0], min(kept), max(kept))
    holds = None if estimate.low < KEPT <= estimate.high else bool(kept[0] < KEPT)
    observed = f" Observed slope: {fixed(slope, 2)}." if np.isfinite(slope) else ""
    whole = percent(max(0.0, float(found.order_shares[-1])))
    why = (
        f"In '{layer.name}' whole combinations make up {whole} of what tells cells apart; a readout of it would keep "
        f"{percent(kept[0])} of an answer's size on unseen combinations, by the kernel theory.{observed}"
    )
    if holds is None:
        why += " The estimate is too uncertain to call it much or little; more cells would decide."
    return Finding(id, holds, estimate, means, why, {"layer": layer.name, "shares_by_order": profile})


def _ends(interval: np.ndarray) -> list[OverlapKernel]:
    """Kernels at the ends of the interval of whole combinations, the other orders sharing the rest as estimated."""
    if not np.isfinite(interval).all():
        return []
    found = []
    for parts, whole in ((0, 1), (1, 0)):
        shares = np.append(interval[:-1, parts], interval[-1, whole])
        found.append(OverlapKernel.by_order(np.maximum(np.append(0.0, shares), 0)))
    return [one for one in found if _has_parts(one)]


def _has_parts(kernel: OverlapKernel) -> bool:
    """Whether anything but whole combinations and the constant counts."""
    return bool((kernel.lower().salience.ravel()[1:] > 0).any())


def mixed_connectivity(
    weights: Any, *, progress: Callable[[float], None] | None = None
) -> tuple[Finding, ModularityReport | None]:
    """Do the weights fall into modules?"""
    id, means = "mixed_connectivity", "share of weight within modules beyond chance, in the weakest layer"
    if weights is None:
        why = "It needs the weights of dense or convolutional layers that follow one another without detours."
        return open_finding(id, why, means), None
    given = read_net(weights)
    units = _units(given.weights)
    if units > MOST_UNITS:
        limit = f"modules are searched up to {MOST_UNITS:,} here"
        why = f"The net has {units:,} units, and {limit}; recombine modularity takes more."
        return open_finding(id, why, means), None
    report, problem = None, ""
    for rows in ("inputs", "outputs"):  # matrices from PyTorch stand the other way round
        try:
            report = modularity_report(weights, permutations=20, rows=rows, progress=progress)
            break
        except InputError as error:
            problem = problem or f"{error.got}"
    if report is None:
        return open_finding(
            id, f"The weights do not fit behind one another as layers: {problem}.", means
        ), None
    verdict = report.verdict
    holds = {"mixed": True, "modular": False}.get(verdict.word)
    score = report.score[verdict.layer] if verdict.layer is not None else 0.0
    estimate = UNKNOWN if verdict.layer is None else _mass_interval(report, verdict.layer, float(score))
    details = {
        "word": verdict.word,
        "modules": report.modules,
        "scores": [plain(one) for one in report.score.tolist()],
    }
    return Finding(id, holds, estimate, means, verdict.sentence, details), report


def _mass_interval(report: ModularityReport, layer: int, score: float) -> Estimate:
    """The layer's score with its units before resampled."""
    squares = np.asarray(report.weights[layer]) ** 2
    before, after = report.labels[layer], report.labels[layer + 1]
    alive = np.ix_(before >= 0, after >= 0)
    within = (squares * (before[:, None] == after[None]))[alive].sum(axis=1)
    total = squares[alive].sum(axis=1)
    n = len(total)
    if n < 2:
        return Estimate(score, np.nan, np.nan)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=500)
    mass = (counts @ within) / np.maximum(counts @ total, 1e-300)
    chance = float(report.chance[layer])
    return widened(score, (mass - chance) / max(1 - chance, 1e-9), n)


def _units(weights: Any) -> int:
    shapes = [np.shape(one) for one in weights if np.ndim(one) in {2, 4}]
    return int(sum(shape[-2] for shape in shapes) + (shapes[-1][-1] if shapes else 0))


def cross_interaction(
    decoder: Callable[..., Any] | None, latents: Any, slots: Any, *, seed: int = 0
) -> tuple[Finding, InteractionProfile | None]:
    """Do the parts of a decoder's input interact beyond adding up?"""
    id, means = "cross_interaction", "share of second derivatives across parts"
    if decoder is None or slots is None:
        why = "It is about decoders whose inputs fall into parts: give model, inputs and slots=[[0, 1], [2, 3]]."
        return open_finding(id, why, means), None
    profile = interaction_profile(decoder, latents, slots, seed=seed)
    share = profile.share(2)
    estimate = Estimate(share.value, share.low, share.high)
    holds = None
    if np.isfinite(share.value):
        holds = None if estimate.low <= INTERACTS < estimate.high else bool(share.value > INTERACTS)
    order = profile.order_word
    what = "second differences" if profile.method == "differences" else "second derivatives"
    why = (
        f"Interaction across parts is of order {order}: {percent(share.value)} of all {what} cross them. "
        + (
            "What one part draws depends on the others, so parts cannot be exchanged one by one."
            if holds
            else "The effects of parts add up, so that they can be exchanged one by one."
            if holds is False
            else "That is too uncertain to decide; more inputs would."
        )
    )
    details = {
        "order": profile.order,
        "q1": plain(profile.q1),
        "method": profile.method,
        "notes": list(profile.notes),
    }
    return Finding(id, holds, estimate, means, why, details), profile


def _shares(layer: Layer) -> list[float | None]:
    return [] if layer.salience is None else [plain(one) for one in layer.salience.order_shares.tolist()]


def _reading(layer: Layer, names: Sequence[str]) -> str:
    worst = int(np.argmin(layer.readable))
    return f"{names[worst]} to {percent(max(0.0, float(layer.readable[worst])))} from '{layer.name}'"


def _curve(layers: Layers) -> dict[str, Any]:
    return {
        "layers": [layer.name for layer in layers],
        "factorisation": [plain(layer.factorisation.value) for layer in layers],
        "readable": [[plain(float(one)) for one in layer.readable] for layer in layers],
    }


def _no_geometry(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "It is about two factors or more."
    return "No cell has neighbours in every factor among the cells of the table; more cells with rows would decide."
