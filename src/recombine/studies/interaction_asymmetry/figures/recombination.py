"""The test that the paper leaves open: slots exchanged between encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import (
    BASELINE,
    METHODS,
    blank_figure,
    image_figure,
    image_grid,
    look,
    seed_points,
    sentence,
)
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.interaction_asymmetry.arms.identifiability import PAIRS, RESTRICTED, vector_arm
from recombine.studies.interaction_asymmetry.arms.lines import CORNER, CORNER_MODELS, FOUR, corner_name
from recombine.studies.interaction_asymmetry.checks.readings import FITS
from recombine.studies.interaction_asymmetry.figures.slots import LINE_HEIGHT
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 3
LOWEST = -3.0
SMALLEST = 1e-6


def _gallery(evidence: Evidence) -> Figure:
    labels = ("scene A", "scene B", "true recombination", "decoded")
    galleries = [evidence[corner_name(model)]["gallery"][0][:, :SHOWN] for model in CORNER_MODELS]
    joined = np.repeat(np.concatenate(galleries, axis=1), LINE_HEIGHT, axis=2)
    columns = [model if i == SHOWN // 2 else "" for model in CORNER_MODELS for i in range(SHOWN)]
    figure = image_figure(len(columns), len(labels))
    image_grid(figure, dict(zip(labels, joined, strict=True)), columns=columns)
    return figure


def _scores(evidence: Evidence) -> Figure:
    corner = {
        model: {
            "seen": evidence[corner_name(model)]["recombined_r2_in"],
            "unseen": evidence[corner_name(model)]["recombined_r2_out"],
        }
        for model in CORNER_MODELS
    }
    every = {name: {"seen": evidence[name]["recombined_r2_in"]} for name in FOUR}
    with look():
        figure = blank_figure(height=2.9)
        panels = figure.subplots(1, 2)
        limits = (-0.8, 1.05)
        seed_points(panels[0], every, limits=limits, label="R²", title="All combinations in training")
        title = "A corner of hues held out"
        seed_points(panels[1], corner, limits=limits, label="R²", title=title)
    return figure


def _vectors(evidence: Evidence) -> Figure:
    inks = {"decoder of the generator's order": METHODS["green"], "dense decoder": BASELINE}
    with look():
        figure = blank_figure(height=3.8)
        panels = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (order, restricted) in enumerate(RESTRICTED.items()):
            for kind, (label, ink) in zip((restricted, "dense"), inks.items(), strict=True):
                for row, (corner, name) in enumerate(((False, "gap"), (True, "recombined_r2_out"))):
                    arm = evidence[vector_arm(order, kind, corner=corner)]
                    missed, shown = np.maximum(1 - arm["fit_r2"], SMALLEST), np.maximum(arm[name], LOWEST)
                    style = {"color": ink, "markersize": 4, "alpha": 0.7, "label": label}
                    panels[row, column].plot(missed, shown, "o", **style)
            sentence(panels[0, column], f"Generator of order {order}, {restricted} decoder")
            panels[1, column].set_xlabel("variance not reconstructed")
            for ax in panels[:, column]:
                ax.axvline(1 - FITS, color=BASELINE, linewidth=0.6)
                ax.set_xscale("log")
                log_ticks(ax.xaxis)
        panels[0, 0].set_ylabel("R², own - other slot")
        panels[1, 0].set_ylabel("R², exchanged, unseen")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


DRAWINGS = (
    Drawing(
        "recombination",
        "Exchanging slots: how close the decoded image is to the true recombination.",
        "R² over pixels. Left: four arms of the line world. Right: scenes with two hues of the upper half were held "
        "out of training; 'unseen' are exchanges that lead to them. Each point is a seed.",
        (*FOUR, *CORNER),
        _scores,
    ),
    Drawing(
        "gallery",
        "An object of scene A exchanged for one of scene B, into the held-out corner of hues.",
        "Three exchanges per model (seed 0): the slot that contains the object is taken from B's encoding.",
        tuple(CORNER),
        _gallery,
        form="image",
    ),
    Drawing(
        "vectors",
        "Decoders of the generator's order recover its slots and recombine them if they fit; dense ones do not.",
        "Vectors of 20 outputs (order 1) or 40 (order 2) from two slots of two latents. Each point is a net; those "
        "left of the line fit. Top: all combinations in training. Bottom: a corner held out, slots exchanged into "
        "it; R² below -3 is shown at -3.",
        tuple(vector_arm(*how, corner=corner) for how in PAIRS for corner in (False, True)),
        _vectors,
    ),
)
