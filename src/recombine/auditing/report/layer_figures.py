"""Figures of the layers of an audited model."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from recombine.report import UNSEEN, Picture, layer_curves, new_figure

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def layer_figure(report: AuditReport) -> Picture | None:
    """How well factors can be decoded, and the factorisation score, over layers."""
    layers = report.layers
    if layers is None or len(layers.layers) < 2:
        return None
    names = [layer.name for layer in layers]
    space = report.table.space
    figure, panels = new_figure(columns=2, aspect=0.72)
    readable = np.array([layer.readable for layer in layers])
    limits = (min(0.0, max(-0.2, float(np.nanmin(readable)))) if np.isfinite(readable).any() else 0.0, 1.05)
    layer_curves(
        panels[0, 0],
        names,
        {name: np.clip(readable[None, :, axis], limits[0], 1) for axis, name in enumerate(space.names)},
        limits=limits,
        title="Can factors be decoded?",
        label="decoded, for held-out cells",
    )
    scores = np.array([layer.factorisation.value for layer in layers])
    if np.isfinite(scores).any():
        layer_curves(
            panels[0, 1],
            names,
            {"independence": scores[None]},
            baselines={"the targets": layers.targets.value} if np.isfinite(layers.targets.value) else None,
            limits=(0.48, 1.02),
            title="Do they move a layer in independent directions?",
            label="factorisation score",
        )
    else:
        panels[0, 1].set_visible(False)
    return Picture(
        "layers",
        figure,
        "Left: how well a linear readout decodes each factor from a layer, for held-out cells: 1 is perfect, 0 is "
        "guessing (R² for numbers, accuracy above guessing for other levels). Right: 1 if factors move the layer in "
        "independent directions, 0.5 if in the same one. A model that re-entangles keeps the left curves high while "
        "the right one falls.",
        "Decoding and independence of factors over layers",
    )


def geometry_figure(report: AuditReport) -> Picture | None:
    """The volume of unseen cells relative to seen ones, and saliences, over layers."""
    layers = report.layers
    if layers is None or len(layers.layers) < 2:
        return None
    names = [layer.name for layer in layers]
    gaps = np.array([layer.volume_gap.value for layer in layers])
    factors = len(report.table.space.shape)
    words, nothing = _order_words(factors), np.full(factors, np.nan)
    shares = np.array([nothing if one.salience is None else one.salience.order_shares for one in layers])
    shares = shares * [comb(factors, order) for order in range(1, factors + 1)]
    known = [np.isfinite(one).any() for one in (gaps, shares)]
    if not any(known):
        return None
    figure, panels = new_figure(columns=2, aspect=0.72)
    volume, salience = panels[0] if known[0] else panels[0, ::-1]
    if known[0]:
        limit = max(0.5, 1.15 * float(np.nanmax(np.abs(gaps))))
        layer_curves(
            volume,
            names,
            {"unseen cells": gaps[None]},
            palette={"unseen cells": UNSEEN},
            baselines={"as seen cells": 0.0},
            limits=(-limit, limit),
            title="How much volume do unseen cells get?",
            label="log10 volume, unseen over seen",
        )
    if known[1]:
        layer_curves(
            salience,
            names,
            {what: shares[None, :, order] for order, what in enumerate(words)},
            limits=(min(0.0, float(np.nanmin(shares))) - 0.05, 1.05),
            title="What distinguishes cells?",
            label="share of salience",
        )
    for panel, drawn in zip((volume, salience), known, strict=True):
        panel.set_visible(bool(drawn))
    return Picture(
        "geometry",
        figure,
        "Left: the volume that a layer gives unseen cells relative to seen ones (0 is the same, -1 a tenth; compare "
        "with the input, where nothing is learned yet). Right: what its activity depends on. Cells that share a level "
        "are similar to the extent that single factors count, and only identical cells to the extent that whole "
        "combinations do. What is stored for whole combinations does not carry over to new ones.",
        "Volume of unseen cells and saliences over layers",
    )


def _order_words(factors: int) -> list[str]:
    """The names of conjunctions of every order, from 1 to all factors."""
    inner = {2: "pairs", 3: "triples"}
    named = [inner.get(order, f"{order} factors") for order in range(2, factors)]
    return ["single factors", *named, "whole combinations"]
