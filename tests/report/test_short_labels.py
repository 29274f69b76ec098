"""Long names and other scripts in figures."""

import warnings

import matplotlib
import numpy as np

from recombine.report import cell_maps, look, png_bytes
from recombine.report.figures.short_labels import font_families, short_label


def test_both_ends_of_a_long_name_are_kept():
    assert short_label("encoder.layer.10", 12) != short_label("encoder.layer.11", 12)
    assert len(short_label("x" * 1000)) == 40
    assert short_label("two\nlines") == "two lines"


def test_characters_without_a_glyph_are_not_warnings():
    levels = [f"漢字{number}" for number in range(3)], ["\U00012000" * 60, "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = cell_maps(
            {"": (np.eye(3), np.zeros((3, 3), dtype=bool))},
            factors={"": ("形状" * 50, "colour")},
            levels={"": levels},
            label="error",
        )
        assert png_bytes(figure)


def test_every_family_is_installed_so_that_matplotlib_does_not_complain(caplog):
    with look():
        assert matplotlib.rcParams["font.family"] == list(font_families())
    assert font_families()[0] == "DejaVu Sans"
    assert not caplog.records
