"""Made-up data for every kind of picture, and a page that has one of everything."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from recombine.report import (
    Badge,
    Column,
    Details,
    Document,
    Picture,
    Row,
    Section,
    Table,
    error_map,
    error_map_row,
    heat_table,
    image_figure,
    image_grid,
    layer_curves,
    loss_curves,
    map_figure,
    map_row,
    new_figure,
    scaling_plot,
    seed_points,
    similarity_matrix,
    svg_bytes,
    tuning_curves,
)

SENTENCE = "A sentence that says what to see, long enough that it has to be wrapped in a narrow panel"


def _panel(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    figure, panels = new_figure(width=3.5, aspect=0.9)
    draw(panels[0, 0], *args, title=SENTENCE, **kwargs)
    return figure


def _draw_all() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(0)
    x, y = np.mgrid[:12, :12]
    hole = (x >= 4) & (x <= 8) & (y >= 5)
    errors = np.where(hole, 4e-3, 1e-4) * rng.uniform(0.5, 2.0, x.shape)
    seeds = rng.uniform(0.5, 1.0, (3, 5))
    names = ["input", "first layer", "second layer", "third layer", "output"]

    yield "error_map", _panel(error_map, errors, hole, blank=4e-3)
    figure = map_figure(3)
    error_map_row(figure, dict.fromkeys(["one", "two", "three"], errors), hole, blank=1e-4, title=SENTENCE)
    yield "error_map_row", figure
    figure = map_figure(6)
    maps = {f"layer {i}": np.log(errors) if i else np.zeros(x.shape) for i in range(6)}
    map_row(figure, maps, hole, title=SENTENCE)
    yield "map_row", figure
    for shades in ("dark", "bright", "signed"):
        figure = image_figure(4, 2)
        rows = {"target": rng.uniform(size=(4, 9, 9)), "what the net draws": np.zeros((4, 9, 9))}
        image_grid(
            figure,
            rows,
            columns=["x 1, y 2"] * 4,
            shades=shades,
            normalise=["target"],
            marks=np.full((4, 2), 3.0),
            unseen=np.array([True, False, True, False]),
            title=SENTENCE,
        )
        yield f"image_grid {shades}", figure
    yield "layer_curves", _panel(layer_curves, names, {"x": seeds, "y": seeds}, baselines={"worst": 0.5})
    broken = np.where(np.arange(5) < 3, seeds, np.nan)
    series = {"seen": seeds, "unseen": broken, "lost": np.full((3, 5), np.nan)}
    baselines = {"blank picture": 0.7, "mean picture": 0.71}
    yield "loss_curves", _panel(loss_curves, np.arange(5), series, baselines=baselines)
    groups = {
        "a method with a long name": {"seen": seeds[0], "unseen": broken[0]},
        "other": {"seen": seeds[1]},
    }
    yield "seed_points", _panel(seed_points, groups, baselines=baselines, log=True, label="error")
    yield "seed_points plain", _panel(seed_points, {"a": seeds[0], "b": [np.nan]}, label="accuracy")
    yield "similarity_matrix", _panel(similarity_matrix, rng.uniform(size=(30, 30)), 20)
    yield "similarity_matrix of two sets", _panel(similarity_matrix, rng.uniform(size=(10, 30)))
    values = errors[:4, :5].copy()
    values[0, 0] = np.nan
    yield "heat_table", _panel(heat_table, values, list("abcd"), list("vwxyz"), log=True, contours=[1e-4])
    words = [[f"{row}{column}+" for column in "vwxyz"] for row in "abcd"]
    yield "heat_table with words", _panel(heat_table, values, list("abcd"), list("vwxyz"), texts=words)
    sizes = [12, 16, 20, 24, 28]
    yield (
        "scaling_plot",
        _panel(scaling_plot, sizes, {"bumps": seeds, "none": seeds * np.nan}, references={"N": 1.0}),
    )
    curves = {
        "unit 3": np.exp(-((np.arange(12) - 2.0) ** 2)),
        "unit 17": np.exp(-((np.arange(12) - 9.0) ** 2)),
    }
    yield "tuning_curves", _panel(tuning_curves, np.arange(12), curves, unseen=np.arange(12) > 5)
    yield "tuning_curves with equal peaks", _panel(tuning_curves, np.arange(12), {"a": x[:, 0], "b": x[:, 0]})


@pytest.fixture(scope="session")
def drawings() -> dict[str, Any]:
    """One figure of every kind, by name, drawn once."""
    figures = dict(_draw_all())
    for figure in figures.values():
        svg_bytes(figure)
    return figures


@pytest.fixture
def table() -> Table:
    error, position = "error (blank image = 1)", "bump at the right place"
    columns = [
        Column("net"),
        Column("seen cells", group=error),
        Column("unseen cells", group=error),
        Column("seen", "right", position),
        Column("unseen", "right", position),
    ]
    rows = [
        Row(
            ["ordinary decoder", "0.01 ± 0.00", Badge("0.82 ± 0.06", "bad"), "100%", "4%"],
            anchor="ordinary",
        ),
        Row(
            ["forced rendering", "0.01 ± 0.00", "0.04 ± 0.02", "100%", "99%"],
            remark="needs **both** penalties",
        ),
    ]
    return Table(columns, rows)


@pytest.fixture
def page(table: Table) -> Document:
    """One of everything, with text that would do harm if it were not escaped."""
    pictures = []
    for name, form in (("errors", "vector"), ("samples", "image")):
        figure, panels = new_figure(width=3.0)
        panels[0, 0].plot([0, 1])
        pictures.append(Picture(name, figure, f"The caption of {name}.", f'{name} <"alt">', form=form))
    hostile = "<script>alert(1)</script> & 3 * 4 * 5 `a < b` **firm**"
    sections = [
        Section("Result & more", [hostile, table, pictures[0]]),
        Section("Claims", [Details("Unfold <me>", ["hidden text", pictures[1]])]),
    ]
    return Document(
        "Can <it> compose?", "A plain **lead**.", sections, {"version": "0.1.0", "seeds": "0, 1, 2"}
    )
