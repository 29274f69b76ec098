import sys
import textwrap

import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import code_fingerprint, fingerprint
from recombine.runs.fingerprint import syntax_hash

CODE = """
def area(x):
    return x * 2
"""


@pytest.mark.parametrize(
    "same",
    [
        "def area(x): return (x*2)",
        '"""Module."""\ndef area(x):\n    """Doubles."""\n    return x * 2  # twice',
        "def area(x):\n    r = 0\n    return x * 2\n".replace("    r = 0\n", ""),
    ],
)
def test_layout_comments_and_docstrings_do_not_matter(same):
    assert syntax_hash(same.encode()) == syntax_hash(CODE.encode())


@pytest.mark.parametrize(
    "other",
    [
        "def area(x): return x * 3",
        "def area(x): return x * 2.0",
        "def area(y): return y * 2",
        "def area(x=1): return x*2",
    ],
)
def test_what_is_computed_matters(other):
    assert syntax_hash(other.encode()) != syntax_hash(CODE.encode())


def test_none_is_not_nothing():
    hashes = {
        syntax_hash(code) for code in (b"def f(): return", b"def f(): return None", b"def f(): return ...")
    }
    assert len(hashes) == 3
    assert syntax_hash(b"f({**a})") != syntax_hash(b"f({})")


def test_code_in_the_making_has_a_hash():
    assert syntax_hash(b"def f(:") != syntax_hash(b"def g(:")


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Writes a module and forgets what was read before."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def forget():
        fingerprint._module.cache_clear()
        fingerprint._numeric_layers.cache_clear()

    def write(path, code):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(code))
        forget()

    yield write
    forget()


def test_a_users_module_counts_through_any_nesting(edit):
    edit("mine_and_mine_alone.py", CODE)
    inner = Part("mine_and_mine_alone:area")
    trial_parts = [Part("math:sin"), inner]
    before, without = code_fingerprint(trial_parts), code_fingerprint([Part("math:sin")])
    edit("mine_and_mine_alone.py", CODE + "# a comment")
    assert code_fingerprint(trial_parts) == before
    edit("mine_and_mine_alone.py", CODE.replace("2", "3"))
    assert code_fingerprint(trial_parts) != before
    assert code_fingerprint([Part("math:sin")]) == without
    assert "mine_and_mine_alone" not in sys.modules


def test_numeric_layers_count_for_every_trial(edit, tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "_PACKAGE", tmp_path / "recombine")
    edit("recombine/fit/deep/loop.py", "x = 1")
    edit("recombine/report/html.py", "x = 1")
    before = code_fingerprint([])
    edit("recombine/report/html.py", "x = 2")
    assert code_fingerprint([]) == before
    edit("recombine/fit/deep/loop.py", "x = 2")
    assert code_fingerprint([]) != before


def test_a_module_that_does_not_exist_is_refused():
    for name in ("no_such_module_at_all:f", "no_such_package.module:f"):
        with pytest.raises(InputError, match="importable module"):
            code_fingerprint([Part(name)])


def test_another_compiler_is_another_fingerprint(monkeypatch):
    part = Part("recombine.tasks:bumps", n=8)
    before = code_fingerprint((part,))
    fingerprint._compiler.cache_clear()
    monkeypatch.setattr(fingerprint, "version", lambda name: "99.0")
    assert code_fingerprint((part,)) != before
    fingerprint._compiler.cache_clear()
