"""What slots contain: scores of all arms, the scan of alpha, and maps of every pixel's slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import (
    BASELINE,
    blank_figure,
    colours,
    image_figure,
    image_grid,
    look,
    seed_points,
    sentence,
)
from recombine.studies.claims import Arm, Evidence
from recombine.studies.interaction_asymmetry.arms.lines import ALPHAS, BETA_ONLY, FOUR, SCAN
from recombine.studies.interaction_asymmetry.arms.sprites import SMALL_MODELS, small_arm
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE_HEIGHT = 20
"""The height in pixels at which an image of one row is shown."""
SHOWN = 3


def _scores(evidence: Evidence) -> Figure:
    readings = {"J-ARI": "j_ari", "JIS": "jis", "active slots": "active"}
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 3, width_ratios=(1.5, 1, 1))
        for ax, (title, name) in zip(panels, readings.items(), strict=True):
            limits = (0, 3.1) if name == "active" else (-0.05, 1.05)
            groups = {arm: evidence[arm][name] for arm in FOUR}
            seed_points(ax, groups, limits=limits, title=title)
            if ax is not panels[0]:
                ax.set_yticklabels([])
        panels[2].axvline(2, color=BASELINE, linewidth=0.8)
    return figure


def _interaction(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.4, width=6.2)
        panels = figure.subplots(1, 2, width_ratios=(1.4, 1))
        for ax, name in zip(panels, ("q1", "r2"), strict=True):
            seed_points(ax, {arm: evidence[arm][name] for arm in FOUR}, limits=(0, 1), title=name)
        panels[1].set_yticklabels([])
    return figure


def _scan(evidence: Evidence) -> Figure:
    names = (BETA_ONLY, *SCAN)
    positions = np.arange(len(names))
    readings = {
        "J-ARI and JIS": {"J-ARI": "j_ari", "JIS": "jis"},
        "squared error of an image": {"error": "sse"},
        "attention shared between slots": {"L_int": "attention_interaction"},
    }
    with look():
        figure = blank_figure(height=2.5)
        panels = figure.subplots(1, 3)
        for ax, (title, series) in zip(panels, readings.items(), strict=True):
            for label, ink in colours(list(series)).items():
                values = np.array([evidence[name][series[label]] for name in names])
                ax.plot(positions, values.mean(axis=1), "-", color=ink, label=label)
                ax.plot(positions, values, "o", color=ink, markersize=3)
            ax.set_xticks(positions, ["0", *(f"{alpha:g}" for alpha in ALPHAS)])
            ax.set_xlabel("alpha")
            sentence(ax, title)
        panels[0].set_ylim(-0.05, 1.05)
        panels[0].legend(loc=(0.3, 0.1))
        panels[1].set_ylim(bottom=0)
        panels[2].axhline(1 / 3, color=BASELINE, linewidth=0.8)
        panels[2].set_ylim(0, 0.36)
    return figure


def _mixed(shares: np.ndarray) -> np.ndarray:
    """Shares of slots `(n, height, width, slots)` as colours: a pixel of one slot has that slot's colour."""
    from matplotlib.colors import to_rgb

    palette = ("#D55E00", "#0072B2", "#F0E442", "#009E73", "#CC79A7")
    return shares @ np.array([to_rgb(ink) for ink in palette[: shares.shape[-1]]])


def _tall(images: np.ndarray) -> np.ndarray:
    return np.repeat(images, LINE_HEIGHT, axis=1) if images.shape[1] == 1 else images


def _maps(arms: dict[str, Arm], titles: dict[str, str]) -> Figure:
    rows: dict[str, list[np.ndarray]] = {
        "image": [],
        "decoded": [],
        "slots by Jacobian": [],
        "by attention": [],
    }
    for arm in arms.values():
        first = {name: arm[name][0][:SHOWN] for name in arm.values if name.startswith("pictures")}
        rows["image"].append(first["pictures"])
        rows["decoded"].append(first["pictures_decoded"])
        rows["slots by Jacobian"].append(_mixed(first["pictures_jacobian"]))
        attention = first.get("pictures_attention")
        blank = np.ones_like(first["pictures"])
        rows["by attention"].append(blank if attention is None else _mixed(attention))
    joined = {label: _tall(np.concatenate(values)) for label, values in rows.items()}
    columns = [titles[name] if i == SHOWN // 2 else "" for name in arms for i in range(SHOWN)]
    figure = image_figure(len(columns), len(joined))
    image_grid(figure, joined, columns=columns)
    return figure


def _line_maps(evidence: Evidence) -> Figure:
    return _maps({name: evidence[name] for name in FOUR}, {name: name for name in FOUR})


def _sprite_maps(evidence: Evidence) -> Figure:
    names = {small_arm(name): name for name in SMALL_MODELS}
    return _maps({arm: evidence[arm] for arm in names}, names)


DRAWINGS = (
    Drawing(
        "four-arms",
        "How each penalty changes the slots in the line world.",
        "Each point is a seed; bar and stroke: interval and centre. J-ARI: are objects in different slots? JIS: does a "
        "pixel depend on a single slot? Grey line: two objects.",
        FOUR,
        _scores,
    ),
    Drawing(
        "alpha",
        "The interaction penalty, from the paper-equivalent weight to 100 times that, together with the capacity "
        "penalty.",
        "Each point is a seed; lines connect means. Grey line: attention spread evenly over three slots.",
        (BETA_ONLY, *SCAN),
        _scan,
    ),
    Drawing(
        "slot-maps",
        "Which slot a pixel depends on, by the decoder's Jacobian and by its attention.",
        "Three test images of one net of each arm (seed 0). Every slot has a colour; a pixel that depends on several "
        "shows their mixture.",
        FOUR,
        _line_maps,
        form="image",
    ),
    Drawing(
        "interaction",
        "Interaction between slots in trained decoders.",
        "q1: how evenly pixels depend on several slots (0: each on one). r2: share of second derivatives across slots "
        "(0 for additive decoders). Each point is a seed.",
        FOUR,
        _interaction,
    ),
    Drawing(
        "sprite-maps",
        "Slots of small sprites.",
        "As above, 16 × 16 pixels, seed 0; the broadcast decoder has no attention.",
        tuple(small_arm(name) for name in SMALL_MODELS),
        _sprite_maps,
        form="image",
    ),
)
