"""The figure of the page: one grid for two factors, panels for more, a sentence where neither can be read."""

import numpy as np
import pytest
from matplotlib.text import Text

from recombine import advise
from recombine.advice.figures import cells_picture, figure_order
from recombine.report import Picture
from recombine.tasks import context_dependence, transitive_ordering


def advice_on(task, **settings):
    space = task.split.space
    columns = {f.name: space.cells[task.cell, axis] for axis, f in enumerate(space.factors)}
    columns |= {"train": task.split.seen[task.cell], "y": task.targets.ravel()}
    return advise(columns, factors=space.names, seen="train", **{"interest": "table"} | settings)


def grid(*sizes, share=0.5, **settings):
    cells = np.indices(sizes).reshape(len(sizes), -1).T
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(rng.random(len(cells)) < settings.pop("density", 1.0))
    columns = {f"f{axis}": cells[rows, axis] for axis in range(len(sizes))}
    columns["train"] = rng.random(len(rows)) < share
    return advise(columns, factors=[f"f{axis}" for axis in range(len(sizes))], seen="train", **settings)


def shown_panels(picture):
    return [ax for ax in picture.figure.axes if ax.get_visible()]


def test_two_factors_are_one_grid(tmp_path):
    page = advice_on(transitive_ordering()).page()
    (picture,) = page.pictures()
    assert len(shown_panels(picture)) == 1
    assert "data:image/svg" in page.write(tmp_path / "page.html").read_text(encoding="utf-8")


def test_three_factors_are_panels_of_the_two_largest():
    picture = cells_picture(advice_on(context_dependence()))
    first, second = shown_panels(picture)
    assert (first.get_title("left"), second.get_title("left")) == ("context = 0", "context = 1")
    assert (first.get_xlabel(), first.get_ylabel()) == ("feature1", "feature2")
    assert (np.asarray(first.images[0].get_array()) == 2).sum() == 9  # depend on inductive bias, at order 2
    assert picture.caption.startswith("Each panel is one combination of context, each square")
    assert "of 2 panels" not in picture.caption


def test_labels_choose_the_order():
    assert figure_order(advice_on(context_dependence(hidden=1), target="y")) == 2
    assert figure_order(advice_on(transitive_ordering())) == 1


def test_few_panels_of_many_are_shown():
    picture = cells_picture(grid(5, 4, 4, 4, orders=[1], share=0.05))
    panels = shown_panels(picture)
    assert len(panels) == 12
    assert "Shown are the 12 of 16 panels with the most unseen cells." in picture.caption
    unseen = [int((np.ma.filled(ax.images[0].get_array(), -1) > 0).sum()) for ax in panels]
    assert unseen == sorted(unseen, reverse=True)


def test_all_text_can_be_read():
    figure = cells_picture(grid(12, 3, 2, orders=[1])).figure
    figure.draw_without_rendering()
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in words) >= 7
    assert len(figure.legends) == 1


@pytest.mark.parametrize(
    ("sizes", "settings", "reason"),
    [
        ((61, 3), {}, "f0 has 61 levels, more than the 60 that can be shown"),
        ((3, 41, 3), {}, "f1 has 41 levels, more than the 40 that can be shown"),
        ((12, 12, 5, 5), {"density": 0.01, "interest": "table"}, "too few cells of f0 and f1"),
    ],
)
def test_figures_say_what_cannot_be_shown(sizes, settings, reason):
    figure = cells_picture(grid(*sizes, orders=[1], **settings))
    assert not isinstance(figure, Picture)
    assert reason in figure


def test_nothing_to_show():
    assert cells_picture(grid(3, 3, share=2)) == ""
