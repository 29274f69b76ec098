"""The report: what it says and in which order, its width, and that the terminal needs no plotting library."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from recombine import advise
from recombine.advice.coverage import Coverage
from recombine.report import Document
from recombine.tasks import context_dependence, transitive_equivalence, transitive_ordering

EXAMPLE = {"factors": ["colour", "shape", "size"], "seen": "split=train", "target": "label"}


@pytest.fixture(scope="module")
def animals():
    return advise("examples/animals.csv", **EXAMPLE)


def words(advice):
    return " ".join(str(advice).split())


def advice_on(task, **settings):
    space = task.split.space
    cells = space.cells[task.cell]
    columns = {f.name: cells[:, axis] for axis, f in enumerate(space.factors)}
    table = pl.DataFrame(
        columns | {"train": task.split.seen[task.cell], "y": task.targets.ravel().astype(float)}
    )
    return advise(table, factors=space.names, seen="train", target="y", **settings)


def test_sections_come_in_order(animals):
    text = str(animals)
    headings = [
        "animals.csv: 182 rows, 3 factors (colour 4, shape 3, size 3), 36 cells",
        "Problems with the split",
        "What the training data determines",
        "Your labels are additive in pairs of factors (order 2), but not in single factors (order 1)",
        "Expect",
        "Do first:",
    ]
    positions = [text.index(heading) for heading in headings]
    assert positions == sorted(positions)
    assert text.rstrip().endswith("Then train.")


def test_counts_agree_with_what_they_count(animals):
    text = words(animals)
    assert "24 seen, 12 unseen" in text
    assert "1 of 10 levels never occurs in training: cyan" in text
    assert "1 of the 21 pairs of levels in the unseen cells never occurs in training" in text
    assert "its 9 test cells test a new level, not a new combination" in text
    assert "3 of 12 unseen cells; the other 9 (all 'cyan') depend on the model's inductive bias" in text
    assert "need at least 1 more cell, for example (cyan, cat, large)" in text


def test_missing_levels_are_counted_against_all_levels():
    """The unseen cells have 3 of the 6 levels: the denominator is what the sentence names."""
    rows = {"a": [0, 1, 2, 2, 0], "b": [0, 0, 0, 1, 2], "train": [True] * 4 + [False]}
    advice = advise(rows, factors=["a", "b"], seen="train", interest="table")
    assert advice.to_dict()["coverage"]["1"]["conjunctions"] == 2
    assert "1 of 6 levels never occurs in training: 2" in words(advice)


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [
        (Coverage(1, 5, 0, 0, ()), "every level in the unseen cells occurs in training"),
        (Coverage(1, 5, 2, 2, ({"a": 1}, {"b": 2})), "2 of 9 levels never occur in training: 1, 2"),
        (
            Coverage(2, 5, 1, 1, ({"a": 1, "b": 2},)),
            "1 of the 5 pairs of levels in the unseen cells never occurs in training, although the levels do: 1 × 2",
        ),
        (
            Coverage(3, 5, 2, 0, ()),
            "every triple of levels in the unseen cells occurs in training, except 2 with a level that never occurs",
        ),
    ],
)
def test_coverage_sentences(coverage, expected):
    assert coverage.sentence(9) == expected


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit(animals, width):
    for advice in (animals, advice_on(context_dependence()), advice_on(transitive_ordering())):
        assert max(map(len, advice.document(figures=False).text(width=width).splitlines())) <= width


def test_terms_are_defined(animals):
    text = words(animals)
    assert "36 cells (combinations)" in text
    assert "determined: all sums of effects that fit the training data predict the same value" in text
    assert "sums of one effect per level" in text
    assert "because what is learned about whole cells does not transfer" in text


def test_undetermined_and_open_cells_are_listed_separately():
    rows = {"a": [0, 0, 1, 1, 2, 0], "b": [0, 1, 2, 3, 0, 4], "train": [True] * 5 + [False]}
    advice = advise(rows, factors=["a", "b"], seen="train", orders=[1])
    result = advice.orders[1]
    assert result.norm_completed.any()
    assert result.undetermined.any()
    text = words(advice)
    assert f"{result.norm_completed.sum()} depend on the model's inductive bias" in text
    assert f"{result.undetermined.sum()} are undetermined (their parts are seen" in text
    assert (
        f"these {(~result.determined).sum()} need at least {len(result.additions.cells)} more cells" in text
    )


def test_the_order_of_all_factors_says_nothing_about_labels():
    text = words(advice_on(transitive_equivalence(), interest="table"))
    assert "Your labels are not exactly additive in single factors (order 1)" in text
    assert "order 2" not in text
    rows = {"a": [0, 0, 1, 1, 2], "y": [0.0, 0, 1, 1, 2], "train": [True] * 4 + [False]}
    assert "not checked for additivity" in words(advise(rows, factors=["a"], seen="train", target="y"))


def test_new_levels_that_no_addition_covers_stay_a_step():
    rows = {"a": [0, 0, 1, 1, 2], "b": [0, 1, 0, 1, 0], "train": [True] * 4 + [False]}
    settings = {"factors": ["a", "b"], "seen": "train", "orders": [1]}
    assert "Do first: add (2, 0)" in words(advise(rows, **settings))
    excluded = advise(rows, **settings, exclude=[{"a": 2}])
    assert "add a training cell with a = 2, or drop that level" in words(excluded)


def test_no_unseen_cell_is_explained():
    cells = np.indices((2, 3)).reshape(2, -1).T[:4]
    table = pl.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "train": [True] * 4})
    advice = advise(table, factors=["a", "b"], seen="train", interest="table")
    assert "no row has an unseen combination (--interest unseen asks about all 2 of them)" in words(advice)
    assert "every combination" not in words(advice)


def test_cells_without_rows_are_counted():
    rows = {"a": [0, 1, 2, 0], "b": [0, 1, 2, 1], "train": [True, True, True, False]}
    advice = advise(rows, factors=["a", "b"], seen="train", interest="table")
    assert "3 seen, 1 unseen with rows (5 without rows left out)" in words(advice)


def test_every_form_is_a_rendering_of_one_document(animals, tmp_path):
    document = animals.document()
    assert isinstance(document, Document)
    assert repr(animals) == (
        "<Advice on animals.csv: 36 cells, 24 seen, 12 unseen; order 1 determines 3, order 2 determines 0>"
    )
    page = animals.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (
        "Do first",
        "Cells to add if pairs of factors interact",
        "memorisation leak",
        "Training cells per level",
    ):
        assert text in page
    assert "iframe" in animals._repr_html_()
    assert animals.figure().axes


def test_the_terminal_needs_no_plotting_and_no_learning_library():
    """Importing these takes longer than everything else that the command does on a small table."""
    code = (
        "import sys\n"
        "from recombine import advise\n"
        f"print(advise('examples/animals.csv', **{EXAMPLE!r}))\n"
        "slow = {'matplotlib', 'sklearn', 'scipy.optimize', 'scipy.stats', 'pandas', 'jax'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
