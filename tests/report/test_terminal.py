"""Tables and progress as a person sees them, on a terminal and elsewhere."""

import io
import os
import subprocess
import sys

import pytest

from recombine.report import (
    Badge,
    Bullets,
    Column,
    Document,
    Fact,
    Facts,
    Only,
    Row,
    Section,
    Table,
    machine,
    print_table,
    table_text,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_columns_line_up(table: Table) -> None:
    assert table_text(table).split("\n") == [
        "                   error (blank image = 1)      bump at the right place",
        "net                seen cells    unseen cells        seen        unseen",
        "ordinary decoder   0.01 ± 0.00   0.82 ± 0.06         100%            4%",
        "forced rendering   0.01 ± 0.00   0.04 ± 0.02         100%           99%",
        "        ↳ needs both penalties",
    ]


def test_wide_tables_are_wrapped() -> None:
    claims = Table(
        [Column("", "right"), Column("claim"), Column("verdict")],
        [Row(["4", "a statement that is much too long for a line of so few characters", "holds"])],
    )
    lines = table_text(claims, width=40).split("\n")
    assert max(map(len, lines)) <= 40
    assert [line[4:].strip() for line in lines[2:]] == ["too long for a line of so", "few characters"]


def test_no_colour_codes_without_a_terminal(table: Table) -> None:
    file = io.StringIO()
    print_table(table, file=file)
    assert file.getvalue() == table_text(table) + "\n"


def test_verdicts_are_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    table = Table([Column("verdict")], [Row([Badge("holds", "good")])])
    file = Terminal()
    print_table(table, file=file)
    assert "\x1b[32mholds\x1b[0m" in file.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    file = Terminal()
    print_table(table, file=file)
    assert "\x1b[32m" not in file.getvalue()


def test_the_machine_has_no_name() -> None:
    text = machine()
    assert "\n" not in text
    assert "Python" in text
    for secret in (os.uname().nodename, os.path.expanduser("~"), os.getcwd()):
        assert secret not in text


def test_importing_is_cheap() -> None:
    code = (
        "import sys, recombine.report; "
        "print([name for name in ('matplotlib', 'jinja2', 'rich', 'jax', 'polars') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def cells(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


WORDS = (
    "a long sentence about what the net does with combinations that it has never seen together in training"
)
WIDE = "形と色の組み合わせをネットワークは一度も見たことがない。それでも正しく描けるだろうか。" * 2


@pytest.mark.parametrize("width", [60, 73, 80, 100, 120])
@pytest.mark.parametrize("words", [WORDS, WIDE, f"{WIDE} {WORDS}"])
def test_documents_fit_the_terminal(width: int, words: str) -> None:
    numbers = [Column(f"number {n}", "right", "a heading over all the numbers") for n in range(9)]
    document = Document(
        "Title",
        words,
        [
            Section("", [words]),
            Section(
                "Findings", [Facts([Fact("shortcut", words, Badge("unclear", "open")), Fact("noise", words)])]
            ),
            Section("To do", [Bullets([words, words], numbered=True), Bullets([words])]),
            Section(
                "Numbers",
                [
                    Table(
                        [Column("a name"), *numbers, Column("remark")],
                        [Row(["the first of them", *["0.82 ± 0.06"] * 9, words], remark=words)],
                        words,
                    )
                ],
            ),
        ],
    )
    text = document.text(width=width)
    assert cells(text) <= width
    shown = "".join(text.split())
    assert shown.count("0.82±0.06") == 9
    for word in words.split():
        assert word in shown


def test_tables_that_are_too_wide_continue_below_with_their_first_column() -> None:
    columns = [Column("net"), *(Column(f"c{n}", "right") for n in range(12))]
    table = Table(columns, [Row(["ordinary", *(f"{n}.12345" for n in range(12))])])
    lines = table_text(table, width=60).split("\n")
    assert max(map(len, lines)) <= 60
    assert [line.split()[0] for line in lines] == ["net", "ordinary"] * (len(lines) // 2)
    assert sum(line.count(".12345") for line in lines) == 12


def test_paths_stay_whole() -> None:
    path = "/home/somebody/" + "/".join(["a-folder"] * 12)
    assert path in Document("Title", f"The page is in {path} now.", []).text(width=60)


def test_empty_parts_leave_no_trace() -> None:
    sections = [
        Section("Nothing", []),
        Section("No facts", [Facts([])]),
        Section("No items", [Bullets([])]),
        Section("For pages", ["text"], where="page"),
        Section("Only on pages", [Only("page", ["text"])]),
        Section("", [""]),
        Section("Something", ["here"]),
    ]
    assert Document("Title", "", sections).text(width=60) == "Something\n  here"
    assert Document("Title", "Lead.", sections[:-1]).text(width=60) == "Lead."
    assert table_text(Table([Column("a"), Column("b")], []), width=60) == "a   b"
