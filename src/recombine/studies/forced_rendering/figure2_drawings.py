"""Figure 2: what the layers of standard decoders represent, and how they distort the plane of x and y."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import (
    BASELINE,
    PAGE_WIDTH,
    blank_figure,
    colours,
    fixed,
    layer_curves,
    map_row,
    new_figure,
)
from recombine.report.figures.style import log_ticks
from recombine.studies.evidence import Evidence
from recombine.studies.forced_rendering.decoder_figures import (
    CNNS,
    layer_names,
    median,
    present,
    task_of,
    unseen_grid,
)
from recombine.studies.forced_rendering.decoder_setup import CODES
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPOCHS = (20, 200)
MLPS = {
    f"MLP, {code} code, {epochs} epochs": f"mlp {code} {epochs} epochs" for code in CODES for epochs in EPOCHS
}
FIRST_MLP = "mlp bump 20 epochs"


def _mlp_layers(evidence: Evidence) -> Figure:
    by_code = {
        code: present(evidence, {f"{epochs} epochs": f"mlp {code} {epochs} epochs" for epochs in EPOCHS})
        for code in CODES
    }
    by_code = {code: arms for code, arms in by_code.items() if arms}
    figure, panels = new_figure(len(by_code), rows=3, aspect=0.68 if len(by_code) > 1 else 0.4)
    for (first, second, third), (code, arms) in zip(panels.T, by_code.items(), strict=True):
        fitted = {label: _without_image(evidence[arm]["r2"].mean(axis=2)) for label, arm in arms.items()}
        _readability(first, fitted, f"{code.capitalize()} code: {_lowest_r2(fitted)}", "R², as published")
        held_out = {label: evidence[arm]["r2_held_out"].mean(axis=2) for label, arm in arms.items()}
        _readability(second, held_out, f"Held out: {_lowest_r2(held_out)}", "R², cross-validated")
        score = {label: evidence[arm]["factorisation"] for label, arm in arms.items()}
        label, values = next(iter(score.items()))
        start, end = (fixed(median(values[:, layer]), 2) for layer in (1, -2))
        _factorisation(third, score, f"Hidden layers: {start} to {end} ({label})")
    return figure


def _readability(ax: Any, series: Mapping[str, np.ndarray], title: str, label: str) -> None:
    lowest = min(float(np.nanmin(values)) for values in series.values())
    limits = min(0.9, float(np.floor(lowest * 10.0)) / 10.0), 1.01
    layer_curves(ax, _names(series), series, limits=limits, title=title, label=label)


def _without_image(r2: np.ndarray) -> np.ndarray:
    """R² without that of the image, which has as many pixels as there are cells, so any regression on it fits."""
    return np.concatenate([r2[:, :-1], np.full_like(r2[:, -1:], np.nan)], axis=1)


def _lowest_r2(series: Mapping[str, np.ndarray]) -> str:
    lowest = np.nanmin([median(layer) for values in series.values() for layer in values.T])
    return f"R² at least {fixed(np.floor(lowest * 100.0) / 100.0, 2)}"


def _factorisation(ax: Any, series: Mapping[str, np.ndarray], title: str) -> None:
    layer_curves(
        ax,
        _names(series),
        series,
        baselines={"worst": 0.5},
        limits=(0.48, 1.02),
        title=title,
        label="factorisation score",
    )


def _names(series: Mapping[str, np.ndarray]) -> list[str]:
    return layer_names(next(iter(series.values())).shape[1])


def _cnn_layers(evidence: Evidence) -> Figure:
    arms = present(evidence, CNNS)
    figure, panels = new_figure(3, rows=len(arms), aspect=1.0)
    for (left, middle, right), (label, arm) in zip(panels, arms.items(), strict=True):
        values = evidence[arm]
        readable = {factor: values["r2_held_out"][:, :, axis] for axis, factor in enumerate("xy")}
        _readability(left, readable, f"{label}: {_lowest_r2(readable)}", "R², cross-validated")
        score = {"seen": values["factorisation_in"], "unseen": values["factorisation_out"]}
        _factorisation(middle, score, "Are x and y separate directions?")
        gap = {"CNN": values["volume_gap"]}
        layer_curves(
            right,
            _names(gap),
            gap,
            baselines={"even": 0.0},
            title="Is the volume in the hole as large as outside?",
            label="log10 volume, unseen - seen",
        )
    return figure


def volume_rows(evidence: Evidence, arms: Mapping[str, str]) -> Figure:
    """Maps of log10 volume in every layer, one row per arm, first seed."""
    rows = len(arms)
    figure = blank_figure(width=PAGE_WIDTH, height=2.45 * rows)
    parts = figure.subfigures(rows, 1, squeeze=False)[:, 0]
    for part, (label, arm) in zip(parts, arms.items(), strict=True):
        maps = evidence[arm]["volume_maps"][0]
        gap = median(evidence[arm]["volume_gap"][:, -1])
        map_row(
            part,
            dict(zip(layer_names(len(maps)), maps, strict=True)),
            unseen_grid(task_of(evidence, arm)),
            title=f"{label[:1].upper()}{label[1:]}: in the image, unseen - seen is {fixed(gap, 2)} (median over seeds)",
        )
    return figure


def _mlp_volume(evidence: Evidence) -> Figure:
    return volume_rows(
        evidence, {label: arm for label, arm in present(evidence, MLPS).items() if " 200 " in arm}
    )


def _cnn_volume(evidence: Evidence) -> Figure:
    return volume_rows(evidence, present(evidence, CNNS))


MAXIMUM = "maximum"


def _ranks(evidence: Evidence) -> Figure:
    nets = {label: {"rank": arm} for label, arm in CNNS.items()}
    for code in CODES:
        nets[f"MLP, {code} code"] = {f"{epochs} epochs": f"mlp {code} {epochs} epochs" for epochs in EPOCHS}
    nets = {label: arms for label, arms in nets.items() if present(evidence, arms)}
    figure, panels = new_figure(2, rows=-(-len(nets) // 2), aspect=0.7)
    for ax, (label, arms) in zip(panels.ravel(), nets.items(), strict=False):
        values = {name: evidence[arm] for name, arm in present(evidence, arms).items()}
        series = {name: arm["numerical_rank"] for name, arm in values.items()}
        inks = colours(series) | {MAXIMUM: BASELINE}
        series[MAXIMUM] = next(iter(values.values()))["largest_possible"]
        names = layer_names(series[MAXIMUM].shape[1])
        layer_curves(ax, names, series, palette=inks, title=label, label="numerical rank")
        ax.set_yscale("log")
        log_ticks(ax.yaxis)
    for ax in panels.ravel()[len(nets) :]:
        ax.remove()
    return figure


VOLUME = (
    "A layer maps every position of the bump to a point in its activity space; the volume element says how large an "
    "area a small step in x and a small step in y span there, as a power of ten. Each map is coloured around its own "
    "mean; its mean and standard deviation are given above it, first seed. A map without structure along the dashed "
    "hole treats unseen combinations like seen ones."
)

DRAWINGS = (
    Drawing(
        "fig2-layers-mlp",
        "Figure 2a-d. Layer by layer in MLPs: can x and y be decoded, and are they separate directions?",
        "How well a linear regression decodes x and y from a layer (mean of the two): scored on the points it was "
        "fitted to, as published (top; not for the image, which has as many units as there are points), and on "
        "held-out points by five-fold cross-validation (middle). Bottom: the factorisation score, 1 if changing x "
        "and changing y move the layer in perpendicular directions, 0.5 at worst. Points are seeds. The published 20 "
        "epochs train these nets very little, hence the second curve with 200.",
        (FIRST_MLP,),
        _mlp_layers,
    ),
    Drawing(
        "fig2-volume-mlp",
        "Figure 2e-f. How evenly the layers of an MLP represent the positions (200 epochs).",
        VOLUME,
        ("mlp bump 200 epochs",),
        _mlp_volume,
        "image",
    ),
    Drawing(
        "fig2-layers-cnn",
        "Figure 2 for the CNN. Decodability, factorisation and evenness, layer by layer.",
        "The same measures for the convolutional decoder, whose layers are so wide that only the cross-validated "
        "score is meaningful. Right: mean log10 volume on unseen cells minus that on seen cells; 0 is even, -1 "
        "means ten times less volume inside the hole. Points are seeds.",
        ("cnn bump",),
        _cnn_layers,
    ),
    Drawing(
        "fig2-volume-cnn",
        "Figure 2 for the CNN. How evenly its layers represent the positions.",
        VOLUME,
        ("cnn bump",),
        _cnn_volume,
        "image",
    ),
    Drawing(
        "further-ranks",
        "Further. How many dimensions the layers use.",
        "Numerical rank of a layer's activity over all positions: the number of directions with more than a "
        "thousandth of the largest variance. Points are seeds. The grey line is the maximum that a layer of that size "
        "allows. In wide layers, 1500 units are chosen at random.",
        ("cnn bump", "mlp bump 20 epochs"),
        _ranks,
    ),
)
