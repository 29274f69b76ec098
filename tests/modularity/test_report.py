"""One report in words, as plain values, as a page and as a picture."""

import json

import numpy as np
import pytest
from matplotlib.text import Text

from recombine import InputError, modularity_report
from recombine.modularity import weight_maps
from recombine.modularity.pitfalls import _layers
from recombine.report import number_ranges, svg_bytes


def test_lines_fit_the_width(blocks, dense):
    for report in (
        modularity_report(blocks(4), modules=4),
        modularity_report(dense((9, 40, 9)), inputs="own"),
    ):
        lines = str(report).split("\n")
        assert max(map(len, lines)) <= 120
        assert [line for line in lines if line in {"Layers", "Modules", "Whole net"}] == [
            "Layers",
            "Modules",
            "Whole net",
        ]
        assert str(report.verdict)[:9] in str(report)


def test_a_report_is_short_in_a_list(blocks):
    assert (
        repr([modularity_report(blocks(3), inputs="own")]) == "[ModularityReport('the net': modular, K = 3)]"
    )


def test_a_report_presents_itself_everywhere(blocks):
    report = modularity_report(blocks(3, between=0.1), inputs="own")
    assert report._repr_html_().startswith("<iframe")
    layers, modules = report.table(), report.table("modules")
    assert layers["share"].to_list() == pytest.approx(report.mass.tolist())
    assert layers["to"].to_list() == ["hidden 1", "hidden 2", "outputs"]
    assert modules.drop("module").sum_horizontal().to_list() == report.sizes.sum(axis=0).tolist()
    with pytest.raises(InputError, match="of: got 'units', expected 'layers' or 'modules'"):
        report.table("units")


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_document_fits_any_terminal(dense, width):
    text = modularity_report(dense((9, 40, 9)), inputs="own").document().text(width=width)
    assert max(map(len, text.split("\n"))) <= width


def test_printing_draws_nothing(blocks, monkeypatch):
    def draw(report):
        raise AssertionError("nobody sees this figure")

    monkeypatch.setattr("recombine.modularity.report.report_figure", draw)
    assert "Newman modularity" in str(modularity_report(blocks(2), inputs="own"))


def test_plain_values_are_json(dense):
    report = modularity_report(dense((3, 8, 2)), modules=3)
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert plain["units"] == [3, 8, 2]
    assert plain["modules"]["number"] == len(plain["modules"]["sizes"][0])
    assert plain["layers"][0]["mass"] == pytest.approx(report.mass[0])
    assert plain["layers"][1]["spectrum_raw"] is None  # two outputs, three modules
    assert plain["newman"]["searched"]["shuffles"] == 20
    assert plain["behaviour"] is None
    assert plain["verdict"]["bounds"] == {"modular": 0.95, "mixed": 0.75, "z": 3.0}
    assert {warning["code"] for warning in plain["warnings"]} == {pitfall.code for pitfall in report.warnings}


def test_many_modules_are_listed_in_part(blocks):
    report = modularity_report(blocks(14, units=2, depth=1), inputs="own")
    assert "The first 12 modules; 2 more." in str(report)
    assert len(report.to_dict()["modules"]["sizes"][0]) == 14


def test_a_page_explains_itself(blocks, tmp_path):
    report = modularity_report(blocks(3, between=0.1), inputs="own")
    text = report.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    for words in (
        "A module is a group of units",
        "Newman modularity",
        "data:image/png",
        "Eigenvalues λ1 to λ5",
    ):
        assert words in text
    report.page().write(tmp_path / "page.md")
    assert (tmp_path / "page" / "weights.png").exists()


def test_maps_are_sorted_and_framed(blocks):
    report = modularity_report(blocks(3), inputs="own")
    figure = report.figure()
    first = figure.axes[1]
    shown = np.asarray(first.collections[0].get_array())
    assert shown.shape == tuple(int(mask.sum()) for mask in report.live[1:3])
    borders = np.cumsum(report.sizes[1])[:-1]
    assert not shown[: borders[0], report.sizes[2][0] :].any()
    assert len(first.patches) == 3
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["0", "1", "2"]
    assert first.get_title("left") == "layer 2: 100% within"


def test_all_text_can_be_read(blocks):
    for modules in (4, 30):
        report = modularity_report(blocks(modules, units=2), inputs="own")
        figure = report.figure()
        figure.draw_without_rendering()
        words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert min(text.get_fontsize() for text in words) >= 7


def test_many_units_are_drawn_together_within_their_module(monkeypatch):
    monkeypatch.setattr("recombine.report.figures.weight_maps.MAX_CELLS", 10)
    weights = np.kron(np.eye(2), np.ones((25, 13)))
    figure = weight_maps([weights], [np.arange(2).repeat(25), np.arange(2).repeat(13)])
    shown = np.asarray(figure.axes[0].collections[0].get_array())
    assert shown.shape == (10, 10)
    assert set(np.unique(shown)) == {0.0, 1.0}
    assert figure.axes[0].get_xlim() == (0, 26)
    assert svg_bytes(figure) == svg_bytes(figure)


def test_deep_nets_are_shown_in_part(blocks):
    report = modularity_report(blocks(2, units=2, depth=14), inputs="own")
    (picture,) = report.page().pictures()
    assert "The first 12 of 15 layers are shown." in picture.caption
    assert sum(ax.get_visible() for ax in picture.drawn.axes) == 13


def test_numbers_in_sentences():
    assert number_ranges([]) == ""
    assert number_ranges([4, 5]) == "4, 5"
    assert _layers([0]) == "layer 1"
    assert _layers([0, 1, 2, 5]) == "layers 1–3, 6"
