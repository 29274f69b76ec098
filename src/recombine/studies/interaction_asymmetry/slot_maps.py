"""Images with the slots that their pixels depend on, for nets of several arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.report import image_figure, image_grid
from recombine.studies.evidence import Arm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE_HEIGHT = 20
"""The height in pixels at which an image of one row is shown."""
SHOWN = 3
PALETTE = ("#D55E00", "#0072B2", "#F0E442", "#009E73", "#CC79A7")


def tall(images: np.ndarray) -> np.ndarray:
    """Images `(n, height, width, channels)`; those of one row are repeated so that they can be seen."""
    return np.repeat(images, LINE_HEIGHT, axis=1) if images.shape[1] == 1 else images


def _mixed(shares: np.ndarray) -> np.ndarray:
    """Shares of slots `(n, height, width, slots)` as colours: a pixel of one slot has that slot's colour."""
    from matplotlib.colors import to_rgb

    return shares @ np.array([to_rgb(ink) for ink in PALETTE[: shares.shape[-1]]])


def draw_slot_maps(arms: Mapping[str, Arm]) -> Figure:
    """Images, reconstructions and every pixel's slots by Jacobian and attention, for the net of median J-ARI."""
    rows: dict[str, list[np.ndarray]] = {
        "image": [],
        "decoded": [],
        "slots by Jacobian": [],
        "by attention": [],
    }
    for arm in arms.values():
        middle = np.argsort(arm["j_ari"])[len(arm["j_ari"]) // 2]
        shown = {name: arm[name][middle][:SHOWN] for name in arm.values if name.startswith("pictures")}
        rows["image"].append(shown["pictures"])
        rows["decoded"].append(shown["pictures_decoded"])
        rows["slots by Jacobian"].append(_mixed(shown["pictures_jacobian"]))
        attention = shown.get("pictures_attention")
        blank = np.ones_like(shown["pictures"])
        rows["by attention"].append(blank if attention is None else _mixed(attention))
    joined = {label: tall(np.concatenate(values)) for label, values in rows.items()}
    columns = [name if i == SHOWN // 2 else "" for name in arms for i in range(SHOWN)]
    figure = image_figure(len(columns), len(joined))
    image_grid(figure, joined, columns=columns)
    return figure
