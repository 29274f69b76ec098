"""Tables and progress as a person sees them, on a terminal and elsewhere."""

import io
import os
import subprocess
import sys

import pytest

from recombine.report import Column, Row, Table, Toned, machine, print_table, progress, table_text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_columns_line_up(table: Table) -> None:
    assert table_text(table).split("\n") == [
        "                   error (blank image = 1)      bump at the right place",
        "net                seen cells    unseen cells         seen       unseen",
        "ordinary decoder   0.01 ± 0.00   0.82 ± 0.06         100 %          4 %",
        "forced rendering   0.01 ± 0.00   0.04 ± 0.02         100 %         99 %",
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
    table = Table([Column("verdict")], [Row([Toned("holds", "good")])])
    file = Terminal()
    print_table(table, file=file)
    assert "\x1b[32mholds\x1b[0m" in file.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    file = Terminal()
    print_table(table, file=file)
    assert "\x1b[32m" not in file.getvalue()


def test_plain_progress_is_told_now_and_then() -> None:
    now = [0.0]
    file = io.StringIO()
    with progress(file=file, every=5.0, clock=lambda: now[0]) as shown:
        line = shown.line("ordinary decoder", "3 seeds")
        for second in range(1, 20):
            now[0] = float(second)
            line.update(second / 20)
        now[0] = 20.0
        line.finish()
        shown.line("cached").finish("from the store")
    assert file.getvalue().split("\n") == [
        "ordinary decoder   3 seeds    25 %   0:15 left",
        "ordinary decoder   3 seeds    50 %   0:10 left",
        "ordinary decoder   3 seeds    75 %   0:05 left",
        "ordinary decoder   3 seeds   100 %   0:20",
        "cached   from the store   100 %   0:00",
        "",
    ]


def test_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    file = Terminal()
    with progress(file=file) as shown:
        line = shown.line("ordinary [decoder]", "3 seeds")
        line.update(0.5)
        line.finish()
    assert "ordinary [decoder]" in file.getvalue()
    assert "100 %" in file.getvalue()


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as shown:
        shown.line("work").finish()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("work")


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
