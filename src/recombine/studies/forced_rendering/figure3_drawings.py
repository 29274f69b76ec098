"""Figure 3: a net that has to draw each factor on its own canvas, without and with the two penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import (
    colours,
    fixed,
    image_figure,
    image_grid,
    layer_curves,
    look,
    loss_curves,
    new_figure,
    number,
    percent,
    seed_points,
    sentence,
)
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.studies.evidence import Evidence
from recombine.studies.forced_rendering.decoder_figures import (
    BOTH_PENALTIES,
    NO_PENALTY,
    PUBLISHED,
    RENDERERS,
    cells_figure,
    median,
    superposed,
    task_of,
    trial_of,
)
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOTH = tuple(RENDERERS.values())

ABLATION = {
    NO_PENALTY: "render none",
    "entropy only (rank 1)": "render entropy",
    "flatness only (stripes)": "render flatness",
    BOTH_PENALTIES: "render both",
}

# Measured on the authors' shipped weights (seed 42, 1000 epochs), or read from their training log.
PUBLISHED_UNSEEN = {NO_PENALTY: 2.76e-2, BOTH_PENALTIES: 1.45e-4}
PUBLISHED_EPOCHS = 1000
PUBLISHED_TRAJECTORY = {100: 1.18e-3, 200: 1.08e-3, 300: 6.75e-4, 500: 5.0e-4}
PUBLISHED_GAP = {
    NO_PENALTY: (-0.186, -0.198, -0.217, 0.274, 0.379, 0.273, 0.305),
    BOTH_PENALTIES: (-0.021, -0.065, -0.039, -0.040, -0.034, -0.027, 0.000),
}


def _canvases(evidence: Evidence) -> Figure:
    rows = {label: np.concatenate(evidence[arm]["canvas"]) for label, arm in RENDERERS.items()}
    level = min(14, task_of(evidence, BOTH[0]).split.space.shape[0] - 1)
    columns = [f"{factor} = {level}, seed {seed}" for seed in evidence[BOTH[0]].seeds for factor in "xy"]
    free, forced = (fixed(median(evidence[arm]["stripe_energy"]), 2) for arm in BOTH)
    figure = image_figure(len(columns), len(rows), largest=1.0)
    image_grid(
        figure,
        rows,
        columns=columns,
        shades="signed",
        normalise=True,
        title=f"Share of a canvas's energy in a stripe: {free} with no penalty, {forced} with both (medians)",
    )
    return figure


def _images(evidence: Evidence) -> Figure:
    rows = {"target": evidence[BOTH[0]]["picture_targets"][0]}
    for label, arm in RENDERERS.items():
        right = median(evidence[arm]["accuracy1_out"])
        rows[f"{label}:\n{percent(right)} in the\nright place"] = evidence[arm]["pictures"][0]
    rows["sum of related\nseen images"] = superposed(evidence, BOTH[0])
    return cells_figure(evidence, BOTH[0], rows, largest=1.05)


def _volume_gap(evidence: Evidence) -> Figure:
    series = {label: evidence[arm]["volume_gap"] for label, arm in RENDERERS.items()}
    layers = series[NO_PENALTY].shape[1]
    head = [("prelu", "conv")[layer % 2] for layer in range(layers - 3)]
    free, forced = (fixed(median(values[:, -1]), 2) for values in series.values())
    figure, panels = new_figure(aspect=0.45)
    ax, inks = panels[0, 0], colours(series)
    layer_curves(
        ax,
        ["input", "canvases", *head, "image"],
        series,
        baselines={"even": 0.0},
        palette=inks,
        title=f"Unseen minus seen at the image: {free} with no penalty, {forced} with both",
        label="log10 volume, unseen - seen",
    )
    for label, values in PUBLISHED_GAP.items():
        if len(values) == layers - 1:
            ax.plot(range(1, layers), values, color=inks[label], **PUBLISHED)
    return figure


def _ablation(evidence: Evidence) -> Figure:
    arms = {label: evidence[arm] for label, arm in ABLATION.items() if arm in evidence}
    groups = {label: {"seen": arm["error_in"], "unseen": arm["error_out"]} for label, arm in arms.items()}
    none, both = (median(arms[label]["error_out"]) for label in RENDERERS)
    figure, panels = new_figure(aspect=0.45)
    seed_points(
        panels[0, 0],
        groups,
        baselines={
            "blank image": median(arms[NO_PENALTY]["baseline_blank_out"]),
            "authors, no penalty": PUBLISHED_UNSEEN[NO_PENALTY],
            "authors, both penalties": PUBLISHED_UNSEEN[BOTH_PENALTIES],
        },
        log=True,
        title=f"Without penalties the unseen error is {number(none / both)} times that with both",
        label="mean squared error",
    )
    return figure


def _curves(evidence: Evidence) -> Figure:
    figure, panels = new_figure(2, aspect=0.85, share_y=True)
    for ax, (label, arm) in zip(panels[0], RENDERERS.items(), strict=True):
        curves, epochs = evidence[arm].curves, _epochs(evidence, arm)
        end = number(median(curves["out"][:, -1]))
        loss_curves(
            ax,
            epochs,
            {"seen": _from_start(curves["in"]), "unseen": _from_start(curves["out"])},
            baselines={
                "blank": median(evidence[arm]["baseline_blank_out"]),
                "authors, end": PUBLISHED_UNSEEN[label],
            },
            title=f"{label.capitalize()}: unseen error ends at {end}",
            step="epoch",
        )
        marks = {epoch: error for epoch, error in PUBLISHED_TRAJECTORY.items() if epoch <= epochs[-1]}
        if label == BOTH_PENALTIES and marks:
            ax.plot(list(marks), list(marks.values()), color="black", zorder=4, clip_on=False, **PUBLISHED)
    return figure


def _epochs(evidence: Evidence, arm: str) -> np.ndarray:
    """The epochs at which an arm's losses were recorded, and 0 before them, so that the axis starts there."""
    recipe, rows = trial_of(evidence, arm).recipe, len(task_of(evidence, arm).train)
    assert recipe is not None
    return np.concatenate([[0.0], evidence[arm].curves["step"][0]]) / recipe.steps_per_epoch(rows)


def _from_start(losses: np.ndarray) -> np.ndarray:
    """Losses `(seeds, records)` with an empty entry for epoch 0, at which nothing was recorded."""
    return np.pad(losses, [(0, 0), (1, 0)], constant_values=np.nan)


def _canvas_shapes(evidence: Evidence) -> Figure:
    figure, panels = new_figure(2, aspect=0.85)
    components, energy = panels[0]
    _per_level(components, evidence, "canvas_participation", "Effective components", "exp(entropy)")
    components.set_ylim(bottom=0.0)
    _per_level(energy, evidence, "stripe_energy", "Energy in a stripe", "share of the canvas's energy")
    energy.set_ylim(-0.02, 1.05)
    return figure


def _per_level(ax: Any, evidence: Evidence, value: str, title: str, label: str) -> None:
    """A value of every level's canvas: points for seeds, a line through their medians."""
    series = {
        f"{factor}, {name}": evidence[arm][value][:, axis]
        for name, arm in RENDERERS.items()
        for axis, factor in enumerate("xy")
    }
    inks, ends = colours(series), []
    with look():
        for name, values in series.items():
            levels = np.broadcast_to(np.arange(values.shape[1]), values.shape)
            middle = np.nanmedian(values, axis=0)
            ax.plot(levels.ravel(), values.ravel(), "o", color=inks[name], markersize=2.5, alpha=0.5, mew=0)
            ax.plot(levels[0], middle, color=inks[name], linewidth=1.0)
            ends.append(EndLabel(name, float(middle[-1]), inks[name]))
        ax.set_xlabel("level of the factor")
        ax.set_ylabel(label)
        free, forced = (number(median(evidence[arm][value])) for arm in BOTH)
        sentence(ax, f"{title}: {free} with no penalty, {forced} with both (medians)")
        end_labels(ax, ends)


DRAWINGS = (
    Drawing(
        "fig3-canvases",
        "Figure 3b. The canvas of each factor, without and with the penalties.",
        "The render net first draws x alone and y alone, each on a canvas of the image's size; a small head "
        "combines them. One penalty pushes every canvas to rank 1, the other to be flat in one direction; together "
        "they favour a stripe. Orange and purple are the two signs; the sign of a stripe is arbitrary.",
        BOTH,
        _canvases,
        "image",
    ),
    Drawing(
        "fig3-pictures",
        "Figure 3c. Images of unseen combinations, without and with the penalties.",
        "One column per position in the corner that training left out, first seed; the open cross marks where the "
        "bump belongs. Percentages: how often the brightest pixel of an unseen image is within one pixel of the "
        "right place, median over seeds. The last row is not drawn by a net: it is the sum of all seen images that "
        "share x or y.",
        BOTH,
        _images,
        "image",
    ),
    Drawing(
        "fig3-volume",
        "Figure 3d. Evenness of the render net, layer by layer.",
        "Mean log10 volume element on unseen cells minus that on seen cells: 0 means that a small step in x and y "
        "spans as much volume in the unseen corner as elsewhere. Points are our seeds; open diamonds were measured "
        "on the authors' trained weights (one run each, 1000 epochs).",
        BOTH,
        _volume_gap,
    ),
    Drawing(
        "fig3-ablation",
        "Figure 3e. Errors with both penalties, either one, and none.",
        "One point per seed, on seen and on unseen cells; the bar is the interval and the stroke the median. Lines: a "
        "blank image, and the unseen errors of the authors' trained weights (1000 epochs, one run each).",
        BOTH,
        _ablation,
    ),
    Drawing(
        "fig3-curves",
        "Figure 3, further. Errors of the render net during training.",
        "Thin lines are seeds, thick ones their median. Lines: a blank image, and the authors' unseen error at the "
        f"end of their {PUBLISHED_EPOCHS} epochs. Open diamonds: unseen errors from the authors' training log, as far "
        "as our run goes.",
        BOTH,
        _curves,
    ),
    Drawing(
        "fig3-canvas-shapes",
        "Figure 3b in numbers. How many components the canvases use, and how close they are to stripes.",
        "For every level of x and of y. Left: exp of the entropy of the canvas's spectrum, the effective number of "
        "components (1 is rank 1). Right: the share of the canvas's energy that is constant along the stripe of its "
        "own factor (1 is a perfect stripe). Points are seeds, lines their median.",
        BOTH,
        _canvas_shapes,
    ),
)
