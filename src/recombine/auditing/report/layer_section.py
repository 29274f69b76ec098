"""Inside the model: what its layers hold, its weights by module, how its slots interact, what finetuning kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.report.layer_figures import geometry_figure, layer_figure
from recombine.auditing.thresholds import READABLE
from recombine.report import Block, Code, Column, Details, Picture, Row, Table, count, fixed

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def layer_sentence(report: AuditReport) -> str:
    """Which factors can be decoded, and how independent they are."""
    layers = report.layers
    assert layers is not None
    hidden = layers.hidden or layers.layers
    names = report.table.space.names
    readable = np.array([layer.readable for layer in hidden])
    if np.isnan(readable).all():
        return f"{len(hidden)} examined; too few cells to say what can be decoded from them"
    lowest = float(np.nanmin(readable))
    if lowest >= READABLE:
        text = f"{' and '.join(names)} can be decoded from every layer (at least {fixed(lowest, 2)}; 1 is perfect)"
    else:
        layer, axis = np.unravel_index(int(np.nanargmin(readable)), readable.shape)
        worst = f"{names[int(axis)]} in '{hidden[int(layer)].name}'"
        text = f"hardest to decode: {worst} ({fixed(max(0.0, lowest), 2)}; 1 is perfect)"
    scores = [layer.factorisation.value for layer in hidden]
    if np.isfinite(scores).any():
        first, last = (f"{fixed(scores[i], 2)} ('{hidden[i].name}')" for i in (0, -1))
        text += f"; factorisation score {first if len(hidden) == 1 else f'{first} to {last}'}"
    return text


def layer_section(report: AuditReport) -> list[Block]:
    """Layers in figures and numbers, weight maps, interaction of slots, what finetuning kept: what there is of them."""
    blocks: list[Block] = [
        picture for picture in (layer_figure(report), geometry_figure(report)) if picture is not None
    ]
    if report.layers is not None and report.layers.layers:
        blocks.append(Details("All layers in numbers", [_layer_table(report)]))
    if report.modularity is not None:
        from recombine.modularity.report import report_figure

        caption = (
            "Each map is one layer of weights: a row for every sending unit, a column for every receiving unit, sorted "
            "by module; frames mark connections within a module."
        )
        figure = report_figure(report.modularity)
        picture = Picture("weights", figure, caption, "Weight maps by module", "image")
        blocks.append(Details("Weights, sorted by module", [picture]))
    if report.profile is not None:
        text = (
            "Shares of first, second and third derivatives of the outputs that cross slots of the input, with 95% "
            "intervals. The order of interaction is the first at which nothing crosses."
        )
        blocks.append(Details("Interaction of slots", [text, Code(str(report.profile))]))
    if report.reuse is not None:
        blocks.append(Details("What finetuning kept, layer by layer", report.reuse.comparison()))
    return blocks


def _layer_table(report: AuditReport) -> Table:
    assert report.layers is not None
    columns = [
        Column("layer"),
        Column("units", "right"),
        *(Column(name, "right", "can be decoded (0 to 1)") for name in report.table.space.names),
        Column("factorisation", "right"),
        Column("volume gap", "right"),
        Column("whole cells", "right"),
    ]
    rows = [
        Row(
            [
                layer.name,
                count(layer.units),
                *(fixed(float(one), 2) for one in layer.readable),
                fixed(layer.factorisation.value, 2),
                fixed(layer.volume_gap.value, 2),
                "–" if layer.salience is None else fixed(float(layer.salience.order_shares[-1]), 2),
            ]
        )
        for layer in report.layers
    ]
    caption = (
        "Volume gap: log10 of the volume of unseen cells over that of seen ones. Whole cells: the share of similarity "
        "that only identical cells have."
    )
    return Table(columns, rows, caption)
