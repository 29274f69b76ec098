"""Pages of audits of every kind: what is on them, and that what cannot be drawn is left out."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.report.error_section import error_title
from recombine.tasks import bump_images

X, Y = np.indices((8, 8)).reshape(2, -1)
SEEN = ~((X > 2) & (X < 6) & (Y > 2) & (Y < 6))
BUMPS = bump_images(np.stack([X, Y], axis=1), 8, 1.0, polarity="bright")


def names(report):
    return [picture.name for picture in report.page().pictures()]


def superposing():
    """Right on seen cells, half of the row's and of the column's seen images on others."""
    means = {
        axis: [BUMPS[SEEN & (level == i)].mean(axis=0) for i in range(8)] for axis, level in enumerate((X, Y))
    }
    sums = np.stack([means[0][x] + means[1][y] for x, y in zip(X, Y, strict=True)])
    return np.where(SEEN[:, None, None], BUMPS, sums)


@pytest.mark.parametrize("form", ["grey", "first", "last", "flat"])
def test_images_of_every_form(form):
    out, target = superposing(), BUMPS
    if form == "first":
        out, target = (np.repeat(one[:, None], 3, axis=1) for one in (out, target))
    if form == "last":
        out, target = out[..., None], target[..., None]
    if form == "flat":
        out, target = (one.reshape(64, -1) for one in (out, target))
    report = audit(factors={"x": X, "y": Y}, seen=SEEN, target=target, prediction=out)
    assert report.finding("superposition").holds is True
    assert "sums of seen outputs" in report.verdict
    offered = {one.id for one in report.remedies}
    assert offered >= {"single_factors", "forced_rendering"} or form == "flat"
    shown = names(report)
    assert {"errors-by-cell", "error-map", "forecast"} <= set(shown)
    assert ("examples" in shown) == (form != "flat")


def test_the_figure_of_errors_shows_the_intervals_of_the_table():
    report = audit(factors={"x": X, "y": Y}, seen=SEEN, target=BUMPS, prediction=superposing() + 0.01)
    figure = next(picture.figure for picture in report.page().pictures() if picture.name == "errors-by-cell")
    bars = [line.get_xdata() for line in figure.axes[0].lines if line.get_linewidth() == 6]
    intervals = (report.scores.seen, report.scores.unseen)
    assert len(bars) == 2
    for bar, interval in zip(bars, intervals, strict=True):
        assert bar == pytest.approx(interval.pair)


def test_a_title_names_the_larger_error_only_if_intervals_do_not_overlap():
    def title(prediction, target):
        report = audit(factors={"x": X, "y": Y}, seen=SEEN, target=target, prediction=prediction)
        return error_title(report.scores)

    first, second = np.random.default_rng(0).normal(size=(2, 64))
    assert "larger" in title(np.where(SEEN, X + Y, 0.0), X + Y + 0.5)
    assert "larger" not in title(first, second)
    assert "like seen ones" in title(1.5 * X + Y + 0.01 * first, 1.5 * X + Y)


def test_three_factors_and_labels():
    a, b, c = np.indices((7, 8, 3)).reshape(3, -1)
    seen = (a + b + 2 * c) % 4 > 0
    truth = (a > 1) == (b > 3)
    usual = np.array([truth[seen & (b == level)].mean() > 0.5 for level in range(8)])[b]
    target, prediction = (
        np.array(["no", "yes"])[one.astype(int)] for one in (truth, np.where(seen, truth, usual))
    )
    report = audit(factors={"a": a, "b": b, "c": c}, seen=seen, target=target, prediction=prediction)
    assert report.finding("shortcut").details["factors"] == ["b"]
    assert names(report) == ["errors-by-cell", "error-map"]
    assert report.remedies[0].id == "fit_additive_2"  # the label depends on a and b together
    assert report.remedies[0].gain.low > 0.5


def test_names_are_escaped(tmp_path):
    levels = np.array(["a", "b", "c", "d" * 60, "<script>alert(1)</script>", "f & g", "ä", "h"])
    report = audit(factors={"<b>x</b>": levels[X], "y": Y}, seen=SEEN, target=X + Y * 0.5, prediction=X * 1.0)
    page = report.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
