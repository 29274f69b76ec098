"""The worst unseen cells: as images if outputs are images, otherwise as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.auditing.report.text_section import answer_table
from recombine.auditing.rules.superposition import superposed
from recombine.auditing.seen_cells import seen_predictions
from recombine.auditing.thresholds import MAX_IMAGES, MAX_LISTED_CELLS, MIN_IMAGE_SIDE
from recombine.report import Block, Column, Picture, Row, Table, image_figure, image_grid, number
from recombine.report.figures.short_labels import COLUMN_WIDTH, short_label

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def example_section(report: AuditReport) -> list[Block]:
    """Images or a table; nothing if no unseen cell has an error."""
    picture = _example_figure(report)
    if picture is not None:
        return [picture]
    if report.text is not None:
        answers = answer_table(report)
        return [] if answers is None else [answers]
    cells, outputs = report.by_cell, report.outputs
    if outputs is None or not len(cells.outside):
        return []
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:MAX_LISTED_CELLS]]
    worst = worst[cells.error[worst] > 0]
    if not len(worst):
        return []
    space = report.table.space
    converted = "" if report.units is None else " (in units of the target)"
    columns = [
        *(Column(name) for name in space.names),
        Column("target", "right"),
        Column(f"prediction{converted}", "right"),
        Column("error", "right"),
    ]
    rows = [
        Row(
            [
                *(str(f.levels[level]) for f, level in zip(space.factors, cells.cells[cell], strict=True)),
                *(
                    _output_text(one if outputs.classes else outputs.as_given(one), outputs.classes)
                    for one in (cells.targets[cell], cells.predictions[cell])
                ),
                number(float(cells.error[cell])),
            ]
        )
        for cell in worst
    ]
    return [Table(columns, rows, "Unseen cells with the largest errors; means over their rows.")]


def _output_text(values: np.ndarray, classes: tuple[Any, ...]) -> str:
    if classes:
        return str(classes[int(values.argmax())])
    shown = ", ".join(number(float(one)) for one in values[:4])
    return shown + (" …" if len(values) > 4 else "")


def _example_figure(report: AuditReport) -> Picture | None:
    """For images: targets and outputs of the worst unseen cells, and the sum of related seen outputs."""
    cells, outputs = report.by_cell, report.outputs
    if outputs is None or outputs.kind != "regression" or not len(cells.outside):
        return None
    shape = image_shape(outputs.shape)
    if shape is None:
        return None
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:MAX_IMAGES]]
    sums = superposed(seen_predictions(cells), cells.cells[worst])
    shown = _worst_rows(report, cells.cells[worst])
    rows = {
        "target": outputs.as_given(outputs.targets[shown]),
        "output": outputs.as_given(outputs.predictions[shown]),
    }
    low, high = float(np.nanmin(rows["target"])), float(np.nanmax(rows["target"]))
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    spread = np.ptp(sums, axis=1, keepdims=True)
    if report.finding("composes").holds is not True:
        related = (sums - sums.min(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
        rows["sum of related\nseen outputs"] = low + (high - low) * related
    images = {label: as_images((row - low) / (high - low), shape) for label, row in rows.items()}
    dark = float(np.median(rows["target"])) > (low + high) / 2
    space = report.table.space
    labels = [
        "\n".join(
            short_label(f"{f.name} {f.levels[level]}", COLUMN_WIDTH)
            for f, level in zip(space.factors, cell, strict=True)
        )
        for cell in cells.cells[worst]
    ]
    text = "the target and the model's output."
    if len(rows) > 2:
        text = (
            "the target, the model's output, and the sum of the (mean) seen outputs that share a level with it, scaled "
            "to the same contrast. If the model superposes, the middle row looks like the last one."
        )
    figure = image_figure(len(worst), len(images))
    image_grid(
        figure,
        images,
        columns=labels,
        shades="dark" if dark else "bright",
        limits=(0.0, 1.0),
        unseen=np.ones(len(worst), dtype=bool),
        title="The worst unseen cells",
    )
    return Picture(
        "examples",
        figure,
        f"The worst examples of the unseen combinations with the largest errors: {text}",
        "Targets, outputs and superpositions of the worst unseen cells",
        "image",
    )


def _worst_rows(report: AuditReport, cells: np.ndarray) -> np.ndarray:
    """For every cell the row with the largest error."""
    assert report.outputs is not None
    errors = np.nan_to_num(report.outputs.row_errors(), nan=-1.0)
    codes = np.ravel_multi_index(tuple(cells.T), report.table.space.shape)
    rows = [np.flatnonzero(report.table.codes == code) for code in codes]
    return np.array([of_cell[errors[of_cell].argmax()] for of_cell in rows])


def image_shape(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """An output's shape as `(height, width)`, `(3, height, width)` or `(height, width, 3)`; `None` if not an image.

    Axes of length one, such as a single colour channel, do not count.

    ```python
    >>> from recombine.auditing.report.example_section import image_shape
    >>> image_shape((1, 8, 9)), image_shape((3, 8, 9)), image_shape((5,))
    ((8, 9), (3, 8, 9), None)

    ```
    """
    shape = tuple(size for size in shape if size != 1)
    if len(shape) == 2 and min(shape) >= MIN_IMAGE_SIDE:
        return shape
    if len(shape) == 3 and shape[0] == 3 and min(shape[1:]) >= MIN_IMAGE_SIDE:
        return shape
    if len(shape) == 3 and shape[2] == 3 and min(shape[:2]) >= MIN_IMAGE_SIDE:
        return shape
    return None


def as_images(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Rows of numbers as `(n, height, width)` or `(n, height, width, 3)`."""
    images = rows.reshape(len(rows), *shape)
    return np.moveaxis(images, 1, -1) if len(shape) == 3 and shape[0] == 3 and shape[2] != 3 else images
