"""Pages hold what was put in, escaped, and need nothing else."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recombine.errors import InputError, StoreError
from recombine.report import Column, Document, Picture, Row, Section, Table, html, markdown, new_figure

VOID = {"meta", "img", "br", "link", "hr"}


class Checker(HTMLParser):
    """Collects text and attributes, and checks that tags are closed in order and ids are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        results = {key: value or "" for key, value in attrs}
        if tag not in VOID:
            self.open.append(tag)
        if "id" in results:
            self.ids.append(results["id"])
        if tag == "img":
            self.images.append(results)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def checked(page: Document) -> Checker:
    checker = Checker()
    checker.feed(html(page))
    assert checker.open == []
    return checker


def test_the_page_holds_what_was_put_in(checked: Checker) -> None:
    expected = [
        "Can <it> compose?",
        "A plain lead.",
        "Result & more",
        "bump at the right place",
        "0.82 ± 0.06",
        "needs both penalties",
        "The caption of errors.",
        "Unfold <me>",
        "hidden text",
        "0, 1, 2",
    ]
    assert [text for text in expected if text not in checked.text] == []
    assert checked.ids == ["result--more", "ordinary", "errors", "claims", "samples"]


def test_pictures_are_inside_the_page(checked: Checker) -> None:
    kinds = [image["src"].split(";")[0] for image in checked.images]
    assert kinds == ["data:image/svg+xml", "data:image/png"]
    assert [image["alt"] for image in checked.images] == ['errors <"alt">', 'samples <"alt">']
    assert base64.b64decode(checked.images[0]["src"].split(",")[1]).startswith(b"<?xml")
    assert checked.images[0]["style"] == "width: 43%; min-width: min(100%, 17.2rem)"  # 3 of 7 inches


def test_text_is_escaped(page: Document) -> None:
    text = html(page)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; 3 * 4 * 5" in text
    assert "<code>a &lt; b</code> <strong>firm</strong>" in text


def test_the_page_asks_nothing_of_the_network(page: Document) -> None:
    text = html(page)
    without_pictures = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    assert not re.search(r"https?:|//|@import|url\(|<script|<link", without_pictures)
    assert text.startswith("<!DOCTYPE html>")


def test_the_same_page_is_the_same_file(page: Document, tmp_path: Path) -> None:
    first = page.write(tmp_path / "a.html").read_bytes()
    assert page.write(tmp_path / "b.html").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]  # no temporary files


def test_markdown_has_its_pictures_in_a_folder_next_to_it(page: Document, tmp_path: Path) -> None:
    path = page.write(tmp_path / "docs" / "results" / "study.md")
    folder = path.parent / "study"
    names = ["errors.png", "samples.png"]
    assert sorted(file.name for file in folder.iterdir()) == names
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (path.parent / link).is_file()
    assert "study/errors.png" in text


def test_markdown_has_the_same_content(page: Document) -> None:
    text = markdown(page, "study")
    assert "# Can \\<it\\> compose?" in text
    assert "\\<script\\>alert(1)\\</script\\> \\& 3 \\* 4 \\* 5 `a < b` **firm**" in text
    assert '| <a id="ordinary"></a>ordinary decoder | 0.01 ± 0.00 | 0.82 ± 0.06 | 100% | 4% |' in text
    assert "| :--- | :--- | :--- | ---: | ---: |" in text
    assert "error (blank image = 1): seen cells" in text
    assert "- forced rendering: needs **both** penalties" in text
    assert "<summary>Unfold &lt;me&gt;</summary>" in text


def test_pipes_do_not_break_markdown_tables() -> None:
    page = Document("t", "l", [Section("s", [Table([Column("a|b")], [Row(["`x|y` | z"])])])])
    assert "| a\\|b |\n| :--- |\n| `x\\|y` \\| z |" in markdown(page, "f")


def test_a_page_that_cannot_be_written_says_so(page: Document, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*choose another place"):
        page.write(tmp_path / "file" / "report.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        page.write(tmp_path / "folder.html")
    assert list(tmp_path.glob("**/*.tmp")) == []
    with pytest.raises(InputError, match=r"ends in \.html or \.md"):
        page.write(tmp_path / "report.pdf")


def test_content_is_checked_early() -> None:
    figure, _ = new_figure()
    with pytest.raises(InputError, match="2 entries"):
        Table([Column("a"), Column("b")], [Row(["1"])])
    with pytest.raises(InputError, match="letters, digits and hyphens"):
        Picture("../up", figure, "caption", "alt")
    with pytest.raises(InputError, match="caption of picture 'p'"):
        Picture("p", figure, " ", "alt")
    with pytest.raises(InputError, match="different names"):
        Document("t", "l", [Section("Same", []), Section("same", [])])
    with pytest.raises(InputError, match="'left', 'right' or 'centre'"):
        Column("a", align="middle")  # type: ignore[arg-type]


def test_only_wide_figures_say_on_a_phone_that_they_can_be_scrolled():
    narrow, wide = new_figure(width=3.0)[0], new_figure()[0]
    pictures = [Picture("narrow", narrow, "Narrow.", "narrow"), Picture("wide", wide, "Wide.", "wide")]
    page = Document("Title", "Lead.", [Section("Figures", pictures)]).html()
    assert '<span class="wide">Scroll sideways to see all of it. </span>Wide.' in page
    assert "<figcaption>Narrow." in page
