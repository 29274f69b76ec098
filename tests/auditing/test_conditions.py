"""Conditions that separate right from wrong unseen cells."""

import numpy as np
import pytest

from recombine import InputError, audit
from recombine.auditing.cells import gather
from recombine.auditing.conditions import separating_conditions
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.report.condition_section import condition_section
from recombine.auditing.report.error_section import _marked
from recombine.spaces.observations import observe

N = 11
A, B = np.indices((N, N)).reshape(2, -1)


def split(seed):
    return np.random.default_rng(seed).random(N * N) < 0.5


def labels(prediction, seen, **settings):
    return audit(
        factors={"a": A, "b": B},
        seen=seen,
        target=(A + B) % N,
        prediction=prediction,
        kind="classification",
        **settings,
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_knows_that_order_does_not_matter_is_described_by_mirror_images(seed):
    """Right where (b, a) was seen, at random elsewhere, as a transformer that has learned commutativity."""
    rng, seen = np.random.default_rng(seed), split(seed)
    mirrored = seen.reshape(N, N).T.ravel()
    prediction = np.where(seen | mirrored, (A + B) % N, rng.integers(N, size=N * N))
    report = labels(prediction, seen)
    first = report.conditions[0]
    assert first.kind == "mirror"
    assert first.wrong == 0
    assert first.wrong_elsewhere > 0.7
    assert first.strong
    assert report.finding("composes").holds is False
    assert "mirror image (a and b exchanged) was seen" in report.verdict
    assert report.to_dict()["conditions"][0]["kind"] == "mirror"
    assert "mirror image" in report.page().html()


def test_a_level_that_goes_wrong_is_named():
    seen = split(1)
    prediction = np.where(~seen & (A == 3), (A + B + 1) % N, (A + B) % N)
    assert [one.text for one in labels(prediction, seen).conditions] == ["a is 3"]


def test_levels_that_go_wrong_together_are_one_condition():
    """Half of the levels: none is remarkable by itself, and the map's dots are the cells of all of them."""
    seen = split(1)
    bad = np.isin(A, (0, 2, 3, 7, 9))
    report = labels(np.where(~seen & bad, (A + B + 1) % N, (A + B) % N), seen)
    first = report.conditions[0]
    assert (first.kind, first.text) == ("levels", "a is one of 0, 2, 3, 7, 9")
    assert (first.wrong, first.wrong_elsewhere, first.strong) == (1, 0, True)
    assert not any(one.kind == "level" for one in report.conditions)
    assert "a is one of 0, 2, 3, 7, 9" in report.verdict


def test_a_level_that_differs_from_its_set_is_named_as_well():
    """Of four levels with errors, one has only errors."""
    rng, a = np.random.default_rng(0), np.repeat(np.arange(12), 200)
    wrong = (a == 3) | (np.isin(a, (5, 6, 8)) & (rng.random(len(a)) < 0.5))
    factors = {"a": a, "b": np.tile(np.arange(200), 12)}
    seen = rng.random(len(a)) < 0.3
    target = (factors["a"] + factors["b"]) % N
    prediction = np.where(wrong & ~seen, (target + 1) % N, target)
    report = audit(factors=factors, seen=seen, target=target, prediction=prediction, kind="classification")
    assert {"a is one of 3, 5, 6, 8", "a is 3"} <= {one.text for one in report.conditions}


def test_a_slice_of_a_third_column_is_named():
    rng, seen = np.random.default_rng(0), split(2)
    camera = np.where(rng.random(N * N) < 0.3, "night", "day")
    prediction = np.where(~seen & (camera == "night"), (A + B + 1) % N, (A + B) % N)
    report = labels(prediction, seen, slices={"camera": camera})
    first = report.conditions[0]
    assert (first.kind, first.wrong, first.wrong_elsewhere) in {("slice", 1.0, 0.0), ("slice", 0.0, 1.0)}


def test_random_errors_hardly_ever_have_a_condition():
    """Corrected for the number of conditions, at most 5% of tables have one; of 150, more than 15 are a defect."""
    found = 0
    for seed in range(150):
        rng, seen = np.random.default_rng(seed), split(seed)
        wrong = ~seen & (rng.random(N * N) < 0.4)
        target = (A + B) % N
        table = observe(factors={"a": A, "b": B}, seen=seen)
        outputs = read_outputs(target, np.where(wrong, target + 1, target) % N, kind="classification")
        found += bool(separating_conditions(table, gather(table, outputs)))
    assert found <= 15


def test_without_wrong_cells_or_without_right_ones_there_is_no_condition():
    seen = split(0)
    assert labels((A + B) % N, seen).conditions == ()
    assert labels(np.where(seen, (A + B) % N, (A + B + 1) % N), seen).conditions == ()


@pytest.mark.parametrize(
    "slices", [["nothing"], {"camera": np.zeros(3)}, {3: np.zeros(N * N)}, 5, {"c": None}]
)
def test_bad_slices_get_one_line(slices):
    seen = split(0)
    with pytest.raises(InputError):
        labels((A + B) % N, seen, slices=slices)


@pytest.mark.parametrize("slices", [["a"], {"a": B}])
def test_a_factor_is_not_a_slice(slices):
    with pytest.raises(InputError, match="slices: got 'a', expected columns that are not factors"):
        labels(A % N, split(0), slices=slices)


def test_copies_are_counted_once_and_all_marked_on_the_map():
    seen, runs = split(0), 3
    wrong = ~seen & np.isin(A, [2, 3, 7])
    prediction = np.where(wrong, (A + B + 1) % N, (A + B) % N)
    once = labels(prediction, seen).conditions[0]
    report = audit(
        factors={"a": A.repeat(runs), "b": B.repeat(runs), "run": np.tile(np.arange(runs), N * N)},
        seen=seen.repeat(runs),
        target=((A + B) % N).repeat(runs),
        prediction=prediction.repeat(runs),
        kind="classification",
    )
    first, cells = report.conditions[0], report.by_cell
    assert (first.text, first.cells, first.others) == (once.text, once.cells, once.others)
    assert set(first.index) == set(cells.outside[np.isin(cells.cells[cells.outside, 0], [2, 3, 7])])
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert _marked(report, pairs)["a × b"].any(axis=1).nonzero()[0].tolist() == [2, 3, 7]
    assert condition_section(report)[0].caption.startswith("Independent unseen cells")
