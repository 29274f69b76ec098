"""Every kind of picture: legible, whole and true to its data. Warnings are errors in this run."""

from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from recombine.errors import InputError
from recombine.intervals import Estimate
from recombine.report import (
    SEEN,
    UNSEEN,
    blank_figure,
    colours,
    error_map,
    error_map_row,
    fitted_slope,
    image_grid,
    look,
    map_row,
    new_figure,
    png_bytes,
    scaling_plot,
    seed_points,
    shared_limits,
    svg_bytes,
)
from recombine.report.figures.style import METHODS, SMALLEST_TYPE


def _texts(figure: Any) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def test_no_text_is_too_small(drawings: dict[str, Any]) -> None:
    for name, figure in drawings.items():
        small = [text.get_text() for text in _texts(figure) if text.get_fontsize() < SMALLEST_TYPE]
        assert not small, (name, small)
        assert not [text.get_text() for text in _texts(figure) if "$" in text.get_text()], name


def test_a_heat_table_says_what_it_is_told_even_in_empty_cells(drawings: dict[str, Any]) -> None:
    shown = {text.get_text() for text in drawings["heat_table with words"].axes[0].texts}
    assert shown == {f"{row}{column}+" for row in "abcd" for column in "vwxyz"}


def test_nothing_is_cut_off(drawings: dict[str, Any]) -> None:
    for name, figure in drawings.items():
        with look():  # ticks are chosen by the current type size
            box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        inside = box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01
        assert inside, (name, box.extents, width, height)


def test_saving_twice_gives_the_same_bytes(drawings: dict[str, Any]) -> None:
    for name in ("error_map_row", "tuning_curves"):
        figure = drawings[name]
        assert png_bytes(figure) == png_bytes(figure)
        assert svg_bytes(figure) == svg_bytes(figure)


def test_svg_has_no_date_or_program(drawings: dict[str, Any]) -> None:
    text = svg_bytes(drawings["loss_curves"]).decode()
    assert "<metadata>" not in text
    assert "matplotlib.org" not in text


def test_drawing_leaves_the_users_settings_alone() -> None:
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with look():
        assert matplotlib.rcParams["font.size"] == 8.0
    new_figure()
    assert matplotlib.rcParams["font.size"] == before


def test_maps_have_the_orientation_of_images() -> None:
    grid = np.ones((3, 2))
    grid[2, 0] = 5.0  # x = 2, y = 0: on the right, on top
    _, panels = new_figure()
    image = error_map(panels[0, 0], grid, grid > 9)
    shown = np.asarray(image.get_array())
    assert shown.shape == (2, 3)
    assert shown[0, 2] == 5.0
    assert panels[0, 0].get_ylim() == (1.5, -0.5)  # y runs downward


def test_maps_in_a_row_share_their_scale() -> None:
    figure = blank_figure(height=3.0)
    unseen = np.zeros((2, 2), dtype=bool)
    error_map_row(figure, {"a": np.full((2, 2), 1e-4), "b": np.full((2, 2), 1e-2)}, unseen, blank=0.1)
    limits = {image.get_clim() for ax in figure.axes for image in ax.get_images()}
    assert limits == {(1e-4, 0.1)}


def test_shared_limits_ignore_zeros_and_span_at_most_five_decades() -> None:
    assert shared_limits({"a": np.array([[0.0, 1e-9, 1.0, np.nan]])}) == (1e-5, 1.0)
    assert shared_limits({"a": np.full((2, 2), 0.5)}) == (0.05, 0.5)
    with pytest.raises(InputError, match="finite positive"):
        shared_limits({"a": np.zeros((2, 2))})


def test_map_row_shows_each_map_around_its_mean() -> None:
    figure = blank_figure(height=3.0)
    grid = np.array([[0.0, 2.0], [0.0, 2.0]])  # mean 1, standard deviation 1
    map_row(figure, {"layer": grid, "even": np.zeros((2, 2))}, np.zeros((2, 2), dtype=bool))
    first, second = (np.asarray(ax.get_images()[0].get_array()) for ax in figure.axes[:2])
    np.testing.assert_allclose(first, [[-1.0, -1.0], [1.0, 1.0]])
    np.testing.assert_allclose(second, 0.0)
    assert figure.axes[0].get_images()[0].get_clim() == (-3.0, 3.0)


@pytest.mark.parametrize(("shades", "background"), [("dark", 1.0), ("bright", 0.0)])
def test_background_is_paper_in_both_polarities(shades: Any, background: float) -> None:
    figure = blank_figure(height=2.0)
    image_grid(figure, {"row": np.full((1, 4, 4), background)}, shades=shades)
    (image,) = figure.axes[0].get_images()
    assert image.cmap(image.norm(background))[:3] == (1.0, 1.0, 1.0)


def test_image_grid_refuses_wrong_shapes() -> None:
    with pytest.raises(InputError, match="height, width"):
        image_grid(blank_figure(height=2.0), {"row": np.zeros((4, 4))})
    with pytest.raises(InputError, match="each of the 1 columns"):
        image_grid(blank_figure(height=2.0), {"row": np.zeros((1, 4, 4))}, columns=["a", "b"])


def test_diverged_seeds_are_named() -> None:
    _, panels = new_figure()
    seed_points(panels[0, 0], {"net": [1.0, np.nan, np.inf]})
    assert panels[0, 0].get_yticklabels()[0].get_text() == "net\n(2 diverged)"


def test_colours_have_fixed_meanings() -> None:
    chosen = colours(["unseen", "a", "seen cells", "b", "unseenable"])
    assert chosen["unseen"] == UNSEEN
    assert chosen["seen cells"] == SEEN
    assert [chosen[key] for key in ("a", "b", "unseenable")] == list(METHODS.values())[:3]
    assert not {SEEN, UNSEEN} & set(METHODS.values())


def test_fitted_slopes_are_those_of_power_laws() -> None:
    sizes = np.array([12.0, 16.0, 20.0, 24.0])
    _, panels = new_figure()
    series = {
        "cube": 0.5 * sizes**3,
        "line": np.stack([2 * sizes, 2 * sizes]),
        "gap": [1.0, np.nan, np.nan, np.nan],
    }
    slopes = scaling_plot(panels[0, 0], sizes, series)
    assert slopes["cube"] == pytest.approx(3.0)
    assert slopes["line"] == pytest.approx(1.0)
    assert np.isnan(slopes["gap"])
    assert fitted_slope(sizes, series["cube"]) == pytest.approx((3.0, 0.5))


def test_seed_points_show_the_interval_of_the_table() -> None:
    """The bar and the stroke of a group: the given estimate, or the median with its order-statistic interval."""
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 70.0])
    estimate = Estimate(13.0, 2.5, 31.0)
    _, panels = new_figure()
    seed_points(panels[0, 0], {"cells": values, "seeds": values}, estimates={"cells": estimate})
    lines = [line.get_xdata() for line in panels[0, 0].lines]
    assert list(lines[0]) == [estimate.low, estimate.high]
    assert set(lines[1]) == {estimate.value}
    assert list(lines[3]) == [1.0, 70.0]  # the range of seven seeds
    assert set(lines[4]) == {4.0}
