import numpy as np
import pytest

from recombine.errors import InputError
from recombine.report import mask_outline, new_figure, outline_unseen
from recombine.report.figures.style import UNSEEN_DASHES


def _area(polygon: np.ndarray) -> float:
    """Signed area: positive if the polygon runs anticlockwise."""
    x, y = polygon.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)


def _edges(polygons: list[np.ndarray]) -> set[tuple[float, float]]:
    """Midpoints of all unit edges."""
    result = set()
    for polygon in polygons:
        for start, end in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            steps = int(np.abs(end - start).sum())
            for step in range(steps):
                middle = start + (end - start) * (step + 0.5) / steps
                assert tuple(middle) not in result
                result.add((float(middle[0]), float(middle[1])))
    return result


def _true_edges(mask: np.ndarray) -> set[tuple[float, float]]:
    """Where neighbours differ, found independently of the tracing."""
    wide = np.pad(mask, 1)
    across = np.argwhere(wide[1:, :] != wide[:-1, :]) - np.array([0.5, 1.0])
    down = np.argwhere(wide[:, 1:] != wide[:, :-1]) - np.array([1.0, 0.5])
    return {(float(i), float(j)) for i, j in np.concatenate([across, down])}


def test_centre_hole() -> None:
    mask = np.zeros((28, 28), dtype=bool)
    mask[6:23, 6:23] = True
    (polygon,) = mask_outline(mask)
    assert polygon.tolist() == [[5.5, 5.5], [22.5, 5.5], [22.5, 22.5], [5.5, 22.5]]


def test_a_ring_has_two_borders() -> None:
    mask = np.ones((5, 5), dtype=bool)
    mask[2, 2] = False
    assert sorted(map(_area, mask_outline(mask))) == [-1.0, 25.0]


def test_cells_that_touch_in_a_corner_are_two_pieces() -> None:
    for mask in (np.eye(2, dtype=bool), ~np.eye(2, dtype=bool)):
        assert [_area(polygon) for polygon in mask_outline(mask)] == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_any_mask_is_outlined_exactly(seed: int) -> None:
    mask = np.random.default_rng(seed).random((7, 5)) < 0.5
    polygons = mask_outline(mask)
    assert _edges(polygons) == _true_edges(mask)
    assert sum(map(_area, polygons)) == mask.sum()
    for polygon in polygons:  # only true corners
        before, after = polygon - np.roll(polygon, 1, axis=0), np.roll(polygon, -1, axis=0) - polygon
        assert (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] != 0).all()


def test_nothing_to_outline() -> None:
    assert mask_outline(np.zeros((3, 3), dtype=bool)) == []


def test_the_line_is_always_the_dashed_one() -> None:
    _, panels = new_figure()
    ax = panels[0, 0]
    ax.set(xlim=(0, 9), ylim=(0, 9))
    outline_unseen(ax, np.ones((2, 3), dtype=bool))
    assert [line._unscaled_dash_pattern for line in ax.lines][1] == UNSEEN_DASHES
    assert ax.get_xlim() == (0, 9)


def test_wrong_masks_are_refused() -> None:
    with pytest.raises(InputError, match="boolean array with two axes"):
        mask_outline(np.zeros((2, 2)))
