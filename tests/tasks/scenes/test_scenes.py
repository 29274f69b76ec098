"""Scenes and their task: recombination has a true image, supports become splits, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recombine import advise
from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import Space, Split, corner_hole, diagonal, in_l_shape, l_shaped, near_diagonal
from recombine.tasks import SceneTask, draw_lines, line_world

BARS = np.array(
    [[[6, 2, 0.0], [20, 3, 1 / 3]], [[8, 3, 2 / 3], [26, 2, 1 / 6]], [[12, 2, 0.5], [18, 2, 0.9]]],
    dtype=float,
)


def test_recombined_scenes_are_drawn_with_the_chosen_objects() -> None:
    scenes = draw_lines(BARS)
    mixed = scenes.recombined(np.array([[0, 1], [2, 0]]), np.array([[0, 1], [1, 0]]))
    np.testing.assert_array_equal(mixed.latents, [[BARS[0, 0], BARS[1, 1]], [BARS[2, 1], BARS[0, 0]]])
    np.testing.assert_array_equal(mixed.images, draw_lines(mixed.latents).images)
    same = scenes.recombined(np.repeat(np.arange(3)[:, None], 2, axis=1))
    np.testing.assert_array_equal(same.images, scenes.images)


def test_one_object_is_exchanged_for_another_scene_s() -> None:
    scenes = draw_lines(BARS)
    result = scenes[:2].replaced(2, scenes[1:])
    np.testing.assert_array_equal(result.latents[:, 0], BARS[:2, 0])
    np.testing.assert_array_equal(result.latents[:, 1], BARS[1:, 1])
    crossed = scenes[:1].replaced(1, scenes[2:], by=2)
    np.testing.assert_array_equal(crossed.latents[0], [BARS[2, 1], BARS[0, 1]])
    assert scenes.legal(scenes.latents).all()
    assert not scenes.legal(crossed.latents).any()  # 16 to 20 against 17 to 23


def test_scenes_can_be_picked_and_read() -> None:
    scenes = draw_lines(np.concatenate([BARS, np.full((3, 1, 3), np.nan)], axis=1))
    assert scenes.present.tolist() == [[True, True, False]] * 3
    assert scenes[scenes.attribute("hue")[:, 0] > 0.4].latents[:, 0, 0].tolist() == [8, 12]
    assert len(scenes[np.array([2])]) == len(scenes[2]) == 1


def test_an_absent_object_leaves_no_trace() -> None:
    without = draw_lines(np.concatenate([np.full((3, 1, 3), np.nan), BARS], axis=1))
    np.testing.assert_array_equal(without.images, draw_lines(BARS).images)
    assert set(np.unique(without.masks)) == {0, 2, 3}


def test_training_shows_the_seen_cells_and_tests_have_both_sides() -> None:
    task = line_world(rows=2000, test=200, support="l-shaped", seed=3)
    hues = task.scenes.attribute("hue")
    unseen = (hues > 0.5).all(axis=1)
    assert not unseen[task.train].any()
    assert not unseen[task.test_in].any()
    assert unseen[task.rows_out].all()
    assert [len(rows) for rows in (task.train, task.test_in, task.rows_out)] == [2000, 200, 200]
    np.testing.assert_array_equal(task.latents, hues)
    np.testing.assert_array_equal(unseen, ~in_l_shape(hues))


def test_the_split_agrees_with_the_table_and_with_advice() -> None:
    """With one attribute of each bar as factors, the corner is a sum of what is seen, but no new conjunction is."""
    task = line_world(rows=2000, test=100, support="l-shaped")
    split, cell = Split.from_table(task.table, factors=list(task.split.space.names), seen="train")
    np.testing.assert_array_equal(split.seen, task.split.seen)
    np.testing.assert_array_equal(cell, task.cell)
    advice = advise(task.table, factors=list(task.split.space.names), seen="train")
    assert len(advice.targets) == 4
    assert advice.orders[1].determined.all()
    assert not advice.orders[2].determined.any()


def test_supports_at_the_centres_of_cells() -> None:
    space = Space({"object 1 a": 8, "object 1 b": 8, "object 2 a": 8, "object 2 b": 8})
    split = diagonal(space, delta=0.2)
    a, b = (abs(space.cells[:, i] - space.cells[:, i + 2]) / 8 / np.sqrt(2) <= 0.2 for i in (0, 1))
    np.testing.assert_array_equal(split.seen, a & b)
    assert l_shaped(space).unseen.sum() == 4**4
    assert diagonal(Space({"1": 4, "2": 4, "3": 4}), delta=0.3, objects=3).seen.sum() > 4


def test_the_diagonal_of_three_objects() -> None:
    """The distance of (1, 0, 0) from the diagonal is that from (1, 1, 1) / 3."""
    point = np.array([[[1.0], [0.0], [0.0]]])
    assert near_diagonal(point, np.sqrt(6) / 3 + 1e-9)
    assert not near_diagonal(point, np.sqrt(6) / 3 - 1e-9)


def test_a_hole_of_the_spaces_is_a_support() -> None:
    task = line_world(rows=500, test=10, support=Part(corner_hole, low=3))
    assert task.split.unseen.sum() == 1
    within = line_world(rows=500, test=10, support="l-shaped", on=("object 1 hue", "object 1 half-width"))
    assert within.split.space.names == ("object 1 hue", "object 1 half-width")


def test_task_survives_changes() -> None:
    task = line_world(rows=50, test=5)
    fewer = task.trained_on(np.arange(10))
    assert isinstance(fewer, SceneTask)
    assert len(fewer.train) == 10
    assert len(fewer.test_in) == 45
    assert replace(task, targets=task.inputs * 0).targets.sum() == 0
    assert repr(task).startswith("SceneTask(regression, 55 rows, inputs (1, 32, 3)")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"support": "round"}, "support: got 'round', expected 'l-shaped', 'diagonal', a hole or None"),
        ({"on": ("shade",)}, "on: got 'shade', expected one of position, half-width, hue, or"),
        ({"on": ("object 3 hue",)}, "on: got 'object 3 hue'"),
        ({"on": "hue"}, "on: got 'hue', expected a tuple of attributes"),
        ({"on": ()}, r"on: got \(\), expected a tuple"),
        ({"bins": 1}, "bins: got 1, expected at least 2"),
        ({"rows": 0}, "rows: got 0"),
        ({"test": -1}, "test: got -1"),
        ({"support": "diagonal", "on": ("object 1 hue",)}, "objects: got 1"),
        ({"support": "diagonal", "delta": -1.0}, "delta: got -1.0"),
        ({"seed": -1}, "seed: got -1"),
        (
            {"on": ("position",), "support": "l-shaped"},
            "support: got 'no training scene with object 1 position = 2', expected a support that shows every",
        ),
    ],
)
def test_a_bad_setting_is_refused_in_one_line(settings: dict, line: str) -> None:
    with pytest.raises(InputError, match=line):
        line_world(**{"rows": 100, "test": 10, **settings})


def test_bad_recombinations_are_refused_in_one_line() -> None:
    scenes = draw_lines(BARS)
    with pytest.raises(InputError, match=r"rows: got \(2,\), expected \(new scenes, 2 objects\)"):
        scenes.recombined(np.arange(2))
    with pytest.raises(InputError, match="number: got 3, expected an object from 1 to 2"):
        scenes.replaced(3, scenes)
    with pytest.raises(InputError, match=r"other: got Scenes\(2 of"):
        scenes.replaced(1, scenes[:2])
    with pytest.raises(InputError, match="attribute: got 'x'"):
        scenes.attribute("x")
    with pytest.raises(InputError, match="scenes: got 55, expected one scene for each of the 56 rows"):
        line_world(rows=50, test=5).with_rows(np.zeros((1, 1, 32, 3)), np.zeros((1, 1, 32, 3)))
