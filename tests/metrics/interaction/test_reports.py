"""The results present themselves: a short repr, text that fits, a page with a figure, and plain values."""

from __future__ import annotations

import json

import jax.numpy as jnp
import numpy as np
import pytest

from recombine.metrics.interaction import asymmetry_report, discover_slots, interaction_profile

pytestmark = pytest.mark.usefixtures("compile_quickly")
Z = np.random.default_rng(0).normal(size=(20, 4))


def decoder(z):
    return jnp.stack([z[0] * z[2] + z[1] ** 2, jnp.sin(z[1] + z[3]), z[0] ** 2])


@pytest.fixture(scope="module", params=["profile", "asymmetry", "discovery"])
def result(request):
    if request.param == "profile":
        return interaction_profile(decoder, Z, [[0, 2], [1, 3]], max_order=2)
    if request.param == "asymmetry":
        return asymmetry_report(decoder, Z, [[0, 2], [1, 3]], points=2)
    return discover_slots(decoder, Z, 2)


def test_every_form(result, tmp_path):
    assert len(repr(result)) < 150
    assert "\n" not in repr(result)
    assert repr(result).startswith(type(result).__name__)
    for width in (60, 100):
        assert max(map(len, result.document().text(width=width).splitlines())) <= width
    assert result.document().text() == str(result)
    assert "data:image/svg" in result.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "data:image/svg" in result._repr_html_()
    json.dumps(result.to_dict(), allow_nan=False)


def test_text_draws_nothing(result, monkeypatch):
    monkeypatch.setattr("recombine.report.figures.canvas.new_figure", None)
    assert str(result)


def test_the_figure_of_a_profile_shows_its_numbers():
    profile = interaction_profile(decoder, Z, [[0, 2], [1, 3]], max_order=3)
    (ax,) = profile.figure().axes
    points = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points, [share.value for share in profile.shares])
    bars = [
        tuple(line.get_ydata())
        for line in ax.lines
        if len(line.get_ydata()) == 2 and line.get_linewidth() == 2
    ]
    assert bars == [(share.low, share.high) for share in profile.shares]


def test_the_figure_of_slots_is_sorted_by_slot():
    discovery = discover_slots(decoder, Z, 2)
    ax = discovery.figure().axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "2", "1", "3"]
