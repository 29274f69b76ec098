"""How a sweep presents itself: tables at several widths, figures, pages."""

import re

import numpy as np
import pytest

from recombine import InputError, Part
from recombine.sweeps.labels import labels
from recombine.sweeps.sweep_document import short_names


@pytest.fixture
def swept(plan_numbers, store):
    def run(over, **others):
        return plan_numbers(over, **others).run(store=store, quiet=True)

    return run


def drawn(figure, path):
    figure.savefig(path)
    return path.stat().st_size


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits_the_terminal(swept, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    found = swept(
        {"task.n": [1, 2, -1], "task.low": [0.0, 0.25], "task.mode": ["add", "a long name of a mode"]}
    )
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= width
    assert any("median over seeds" in line for line in lines)
    assert len(re.findall(r"(?<![\d.])0, 2\b(?!\.)", str(found))) == 4  # none finished, 2 failed
    assert "Lowest twice_out: 2.1 [2.0, 2.2] with n 1, low 0, mode add" in " ".join(str(found).split())


def test_a_long_table_is_cut(swept):
    found = swept({"task.n": range(60)}, seeds=1)
    assert "20 more points" in str(found)
    assert "one seed" in str(found)
    assert len(found.to_dict()["points"]) == 60


def test_figures_render(swept, tmp_path):
    for number, over in enumerate(
        (
            None,
            {"task.n": [1]},
            {"task.n": [0, 1, 10, 1000]},
            {"task.mode": ["add", "times"]},
            {"task.n": [1, 2, -1], "task.low": [0.0, 0.5]},
            {("task.n", "task.mode"): [(1, "a"), (2, "b"), (13, "c")], "task.low": [0.0, 0.5]},
            {"task.low": [i / 4 for i in range(30)], "task.n": list(range(20))},
            [{"task.n": 1, "task.low": 0.5}, {"task.n": 2, "task.low": 1.5}, {"task.n": 1, "task.low": 1.5}],
            {"task": [Part("sweep_parts:numbers", n=n) for n in (1, 2)]},
        )
    ):
        found = swept(over, seeds=1)
        assert drawn(found.plot(), tmp_path / f"{number}.png") > 3000
    assert "<img" in found.page().html()


def test_settings_that_change_together_are_one_axis_and_lost_seeds_have_crosses(swept):
    axes = (
        swept({("task.n", "task.mode"): [(1, "a"), (2, "b"), (13, "c")], "task.low": [0.0, 0.5]})
        .plot(x="task.n")
        .axes[0]
    )
    lines = [line for line in axes.lines if line.get_marker() == "None"]
    assert [line.get_xdata().tolist() for line in lines] == [[1.0, 2.0]] * 2
    crosses = [line.get_xdata() for line in axes.lines if line.get_marker() == "x"]
    assert [list(cross) for cross in crosses] == [[13.0]] * 2
    assert axes.get_title(loc="left").endswith("×: no value") or "×: no value" in axes.get_title()


def test_lines_go_through_the_medians(swept):
    axes = swept({"task.n": [1, 2, 4]}, seeds=3).plot("value").axes[0]
    line = next(line for line in axes.lines if line.get_marker() == "None")
    assert line.get_ydata() == pytest.approx(np.array([1.1, 2.1, 4.1]))


def test_what_cannot_be_drawn(swept):
    found = swept({"task.n": [1, 2]})
    with pytest.raises(InputError, match=r"x: got 'task.m', expected a swept setting; did you mean 'task.n'"):
        found.plot(x="task.m")
    with pytest.raises(InputError, match="did you mean 'value'"):
        found.plot("valeu")


def test_short_names_tell_paths_apart():
    assert short_names(["net.width", "recipe.penalties.0.weight", "recipe.penalties.1.weight"]) == {
        "net.width": "width",
        "recipe.penalties.0.weight": "penalties.0.weight",
        "recipe.penalties.1.weight": "penalties.1.weight",
    }


def test_labels_are_different():
    values = [Part("a:f", x=1), Part("b:f", x=1), Part("a:f", x=2), None, 3]
    assert len(set(labels(values))) == len(values)
