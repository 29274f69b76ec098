"""The forecasts in words: failures that can be seen coming."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from recombine.advice.flips import Flip
from recombine.advice.forecasts import LossForecast, SlopeForecast
from recombine.advice.labels import Shortcut
from recombine.advice.phrases import cell_name, number_of
from recombine.advice.profile import FROM_ACTIVITY, USUAL_PROFILE
from recombine.advice.result import Advice
from recombine.report import count, fixed, percent

UNEVEN = 0.1
"""Similarities that differ by more than this share of their range, for the same overlap, are not structured."""
HALF = 0.5
"""Answers of which a line on the truth explains less than this share are hardly related to it."""
ABOUT = 0.05
"""A slope this close to 1 is about right."""


def expectations(advice: Advice) -> Iterator[tuple[str, str]]:
    """Failures that can be seen coming: a name and a sentence for each."""
    leak = advice.leak
    if leak is not None:
        shallow, deep = leak.band or (0.0, 0.0)
        band = f", {fixed(shallow, 2)} for 1 layer, {fixed(deep, 2)} for 10" if leak.band else ""
        usual = leak.profile == USUAL_PROFILE
        who = "a random ReLU network of 3 layers" if usual else profile_words(leak.profile)
        share = fixed(leak.median, 2)
        coarse = "; counting single levels only, since pairs are too many" if leak.order == 1 else ""
        yield (
            "memorisation leak",
            f"unseen answers shrink to about {share} of their size ({who}{band}{coarse})",
        )
    if advice.slope is not None:
        yield "slope", slope_sentence(advice.slope)
    rules = [rule for rule in advice.shortcuts if rule.misleads]
    for rule in rules[:3]:
        yield "shortcut", shortcut_sentence(advice, rule)
    if advice.shortcuts and not rules:
        known = any(isfinite(rule.target) for rule in advice.shortcuts)
        none = "none of one or two factors misleads on labelled cells of interest"
        yield "shortcut", none if known else "not known: no cell of interest has a label"
    if advice.losses is not None:
        yield "loss", loss_sentence(advice.losses)
    if advice.flip is not None:
        yield "cure", flip_sentence(advice, advice.flip)


def salience_lines(advice: Advice) -> Iterator[str]:
    """What was estimated from activity, and how far it can be trusted; nothing if saliences were not estimated."""
    estimate = advice.profile.estimate
    if estimate is None:
        return
    found = estimate.found
    what = {1: "a single factor", 2: "a pair", 3: "a triple"}
    shares = [
        f"S({order}) = {fixed(share, 3)} [{fixed(low, 3)}, {fixed(high, 3)}]"
        f" for {what.get(order, f'{order} factors together')}"
        for order, (share, (low, high)) in enumerate(
            zip(found.order_shares, found.interval.tolist(), strict=True), start=1
        )
    ]
    yield f"share of the layer's similarity that each combination carries: {', '.join(shares)}"
    if estimate.rows < estimate.of:
        yield f"from {count(estimate.rows)} of {number_of(estimate.of, 'row')}, drawn at random by level and cell"
    worst = float(np.nanmax(found.unevenness))
    rough = "only roughly" if worst > UNEVEN else "closely"
    yield (
        f"pairs of cells with the same factors in common differ in similarity by up to {percent(worst)} of the range, "
        f"so the layer is {rough} one whose similarities depend on what is shared, as the forecasts assume"
    )
    if found.self_pairs:
        yield (
            "hardly any cell has a second row, so rows were compared with themselves: noise counts as memory of "
            "whole cells, and single factors come out too small"
        )


def profile_words(name: str) -> str:
    """Saliences by the name of their profile."""
    return "the layer's saliences" if name == FROM_ACTIVITY else f"{name} saliences"


def slope_sentence(found: SlopeForecast) -> str:
    """How answers grow with the truth."""
    low, high = (fixed(end, 2) for end in found.band)
    sizes = "too close together" if found.slope < 1 else "too far apart"
    kind = "about right" if abs(found.slope - 1) < ABOUT else sizes
    if found.slope < 0:
        kind = "going the wrong way"
    elif isfinite(found.explained) and found.explained < HALF:
        kind = "hardly related to the truth"
    noise = (
        ""
        if not isfinite(found.explained)
        else f", a line that explains {percent(found.explained)} of their variance"
    )
    return (
        f"answers for {number_of(found.cells, 'labelled cell')} of interest rise by {fixed(found.slope, 2)} where the "
        f"truth rises by 1 ({low} to {high} for random ReLU networks of {found.depths[0]} to {found.depths[-1]} "
        f"layers){noise}: they are {kind}"
    )


def loss_sentence(found: LossForecast) -> str:
    """Which loss gets the unseen labels right, and whether a change of loss would help."""
    margin, squared = (sum(share == 1 for share in shares) for shares in (found.margin, found.squared))
    tried = len(found.depths)
    machines = f"kernel machines (random ReLU networks of 1 to {found.depths[-1]} layers)"
    if margin == squared == tried and found.squared_helps is None:
        return (
            f"all {tried} {machines} get every unseen label right, with cross-entropy and with squared loss"
        )
    words = (
        f"{margin} of {tried} {machines} get every unseen label right with the largest margin (cross-entropy; "
        f"accuracy {_range(found.margin)}), {squared} of {tried} with squared loss ({_range(found.squared)})"
    )
    if isfinite(found.critical):
        words += (
            f"; the largest margin is right where single factors are at most {fixed(found.critical, 1)} times as "
            f"salient as pairs (here {fixed(found.ratio, 1)})"
        )
    if found.squared_helps is None:
        return words
    if found.squared_helps:
        return f"{words}: squared loss would fix it"
    better = found.chosen_squared > found.chosen_margin
    return f"{words}: squared loss would {'help, but not fix it' if better else 'not fix it'}"


def flip_sentence(advice: Advice, found: Flip) -> str:
    """Which few cells make the largest margin right about the others."""
    who = "the saliences assumed" if advice.profile.assumed else profile_words(advice.profile.name)
    words = f"with {who} the largest margin gets {percent(found.before)} of the unseen labels right"
    if not len(found.cells):
        return f"{words}; no few further training cells were found that make the others right"
    proof = (
        f"{found.least} is the least possible"
        if found.smallest
        else f"fewer than {found.least} are not enough; not proven to be the fewest"
    )
    names = "; ".join(cell_name(advice, cell) for cell in found.cells)
    return f"{words}; adding {number_of(len(found.cells), 'cell')} makes all others right [{proof}]: {names}"


def shortcut_sentence(advice: Advice, rule: Shortcut) -> str:
    """One rule in words."""
    names = " and ".join(f"'{advice.table.space.names[axis]}'" for axis in rule.factors)
    alone = "alone" if len(rule.factors) == 1 else "together"
    classes = advice.labels is not None and advice.labels.classes
    if classes:
        verb, what = ("predicts" if len(rule.factors) == 1 else "predict"), "training labels"
    else:
        verb, what = ("explains" if len(rule.factors) == 1 else "explain"), "the variance of training labels"
    of = "of" if classes else "of that of"
    there = f" and {percent(max(rule.target, 0))} {of} the unseen ones" if isfinite(rule.target) else ""
    return f"{names} {alone} {verb} {percent(rule.train)} of {what}{there}"


def _range(shares: Sequence[float]) -> str:
    known = [share for share in shares if isfinite(share)] or [0.0]
    low, high = percent(min(known)), percent(max(known))
    return low if low == high else f"{low} to {high}"
