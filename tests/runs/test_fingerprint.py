import shutil
import subprocess
import sys
import textwrap

import pytest

from recombine import source_imports
from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Trial, code_fingerprint, fingerprint
from recombine.runs.code_scan import syntax_hash
from recombine.training import Recipe

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
def forget():
    """A function that makes the next fingerprint read all files again."""

    def forget():
        source_imports.forget()
        fingerprint.forget()

    forget()
    yield forget
    forget()


@pytest.fixture
def edit(tmp_path, monkeypatch, forget):
    """Writes a module of the user's."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(path, code):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(code))
        forget()

    return write


def test_a_users_module_counts(edit):
    edit("mine_and_mine_alone.py", CODE)
    parts = [Part("math:sin"), Part("mine_and_mine_alone:area")]
    before, without = code_fingerprint(parts), code_fingerprint([Part("math:sin")])
    edit("mine_and_mine_alone.py", CODE + "# a comment")
    assert code_fingerprint(parts) == before
    edit("mine_and_mine_alone.py", CODE.replace("2", "3"))
    assert code_fingerprint(parts) != before
    assert code_fingerprint([Part("math:sin")]) == without
    assert "mine_and_mine_alone" not in sys.modules


@pytest.mark.parametrize(
    "statement",
    [
        "import helper_of_mine",
        "import helper_of_mine as h",
        "from helper_of_mine import g",
        "from helper_of_mine import *",
        "def f():\n    from helper_of_mine import g\n    return g()",
        "try:\n    import helper_of_mine\nexcept ImportError:\n    pass",
        "g = Part('helper_of_mine:g')",
    ],
)
def test_a_users_modules_in_one_folder_are_followed(edit, statement):
    edit("helper_of_mine.py", "from second_helper import two\ndef g(): return two")
    edit("second_helper.py", "two = 2")
    edit("parts_of_mine.py", statement)
    before = code_fingerprint([Part("parts_of_mine:f")])
    edit("unrelated_module.py", "x = 1")
    assert code_fingerprint([Part("parts_of_mine:f")]) == before
    edit("second_helper.py", "two = 3")
    assert code_fingerprint([Part("parts_of_mine:f")]) != before


STATIC = """
class Rows{bases}:
    {decorator}
    def from_path(path):
        from reader_of_mine import read
        return read(path)

def build():
    {call}
"""


@pytest.mark.parametrize(
    ("call", "bases", "decorator", "counts"),
    [
        ("return Rows()", "", "@staticmethod", False),
        ("return Rows.from_path('x')", "", "@staticmethod", True),
        ("return getattr(Rows, 'from_path')('x')", "", "@staticmethod", True),
        ("return Part('user_of_mine:Rows.from_path')", "", "@staticmethod", True),
        ("return Rows()", "(Base)", "@staticmethod", True),  # the base class may call it
        ("return Rows()", "", "@classmethod", True),
        ("return Rows()", "", "", True),
    ],
)
def test_a_static_method_counts_if_something_names_it(edit, call, bases, decorator, counts):
    edit("reader_of_mine.py", "def read(path): return 1")
    edit("user_of_mine.py", STATIC.format(call=call, bases=bases, decorator=decorator))
    parts = [Part("user_of_mine:build")]
    before = code_fingerprint(parts)
    edit("reader_of_mine.py", "def read(path): return 2")
    assert (code_fingerprint(parts) != before) == counts


def test_a_static_method_may_be_named_in_another_file_or_be_a_part(edit):
    parts = {
        "alone": [Part("rows_of_mine:build")],
        "named": [Part("names_it:build")],
        "together": [Part("rows_of_mine:build"), Part("unrelated:read_rows")],
        "itself": [Part("rows_of_mine:Rows.from_path")],
    }
    edit("reader_of_mine.py", "def read(path): return 1")
    edit("rows_of_mine.py", STATIC.format(call="return Rows()", bases="", decorator="@staticmethod"))
    edit("names_it.py", "import rows_of_mine\ndef build(): return rows_of_mine.Rows.from_path('x')")
    edit("unrelated.py", "def read_rows(rows): return rows.from_path('x')")
    before = {name: code_fingerprint(one) for name, one in parts.items()}
    edit("reader_of_mine.py", "def read(path): return 2")
    changed = {name for name, one in parts.items() if code_fingerprint(one) != before[name]}
    assert changed == {"named", "together", "itself"}


def test_what_is_imported_for_types_only_does_not_count(edit):
    edit("typed_helper.py", "x = 1")
    edit(
        "typed_parts.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typed_helper import x",
    )
    before = code_fingerprint([Part("typed_parts:f")])
    edit("typed_helper.py", "x = 2")
    assert code_fingerprint([Part("typed_parts:f")]) == before


def test_relative_imports_and_packages_that_pass_names_on(edit):
    edit("pack/__init__.py", "from .a import f\nfrom .b import g\n")
    edit("pack/a.py", "from .deep.c import h\ndef f(): return h()")
    edit("pack/b.py", "def g(): return 1")
    edit("pack/deep/__init__.py", "")
    edit("pack/deep/c.py", "from .. import d\ndef h(): return d.x")
    edit("pack/d.py", "x = 1")
    before, of_g = code_fingerprint([Part("pack:f")]), code_fingerprint([Part("pack:g")])
    edit("pack/b.py", "def g(): return 2")
    assert code_fingerprint([Part("pack:f")]) == before
    assert code_fingerprint([Part("pack:g")]) != of_g
    edit("pack/d.py", "x = 2")
    assert code_fingerprint([Part("pack:f")]) != before


def test_a_package_that_is_imported_whole_counts_whole(edit):
    edit("whole/__init__.py", "from .a import f\nfrom .b import g\n")
    edit("whole/a.py", "def f(): return 1")
    edit("whole/b.py", "def g(): return 1")
    edit("uses_whole.py", "import whole as w\ndef f(): return w.f()")
    before = code_fingerprint([Part("uses_whole:f")])
    edit("whole/b.py", "def g(): return 2")
    assert code_fingerprint([Part("uses_whole:f")]) != before


def test_a_name_that_comes_from_another_file_now_is_a_change(edit):
    edit("first_source.py", "def f(): return 1")
    edit("other_source.py", "def f(): return 2")
    edit("chooses.py", "from first_source import f\nimport other_source")
    before = code_fingerprint([Part("chooses:f")])
    edit("chooses.py", "from other_source import f\nimport other_source")
    middle = code_fingerprint([Part("chooses:f")])
    edit("chooses.py", "from other_source import f\nimport first_source as other_source")
    assert len({before, middle, code_fingerprint([Part("chooses:f")])}) == 3


def test_installed_packages_are_not_followed(forget):
    assert fingerprint.closure("numpy.linalg", "norm") == {"numpy.linalg"}
    assert fingerprint.closure("json") == {"json"}


def test_a_script_counts_with_what_it_imports(tmp_path):
    code = """
        import sys
        from recombine.parts import Part
        from recombine.runs import code_fingerprint
        from next_to_it import two

        def f():
            return two

        print(code_fingerprint([Part(f)]))
    """
    script, helper = tmp_path / "script.py", tmp_path / "next_to_it.py"

    def run(two, more=""):
        script.write_text(textwrap.dedent(code) + more)
        helper.write_text(f"two = {two}")
        words = [sys.executable, str(script)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    first = run(2)
    assert run(2, more="# a comment") == first
    assert run(3) != first
    assert run(2, more="f.x = 1") != first


@pytest.fixture
def copy(tmp_path, monkeypatch, forget):
    """The source of this package, copied so that it can be edited."""
    root = tmp_path / "recombine"
    shutil.copytree(source_imports._ROOT, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source_imports, "_ROOT", root)
    forget()
    return root


def part_names():
    """A part that trains with a decoder on bumps, and a probe that only one study has."""
    return {
        "task": [Part("recombine.tasks:bumps")],
        "net": [Part("recombine.nets:cnn_decoder")],
        "probe of a study": [Part("recombine.studies.kernel_theory.predictions:region")],
    }


def fingerprints(trains=False):
    return {name: code_fingerprint(parts, trains=trains) for name, parts in part_names().items()}


def append(file, code):
    file.write_text(file.read_text(encoding="utf-8") + code, encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "affected"),
    [
        ("tasks/bumps/grid_positions.py", {"task"}),
        ("spaces/factors.py", {"task", "probe of a study"}),  # imported by what they import
        ("spaces/splits.py", {"task", "probe of a study"}),
        ("data/arrays.py", {"task", "probe of a study"}),  # converts what a split is made of
        ("data/delimited.py", set()),  # only `Split.from_table` reads users' files
        ("data/tables.py", set()),
        ("data/npz.py", set()),
        ("nets/layers/convolution.py", {"net"}),
        ("studies/kernel_theory/predictions.py", {"probe of a study"}),
        ("theory/conjunctions.py", {"probe of a study"}),
        ("report/html.py", set()),
        ("cli/shared.py", set()),
        ("tasks/modular.py", set()),
        ("studies/forced_rendering/__init__.py", set()),
        ("tasks/__init__.py", set()),
        ("runs/trial_runner.py", {"task", "net", "probe of a study"}),
        ("runs/store/store.py", set()),
        ("training/loop.py", set()),
    ],
)
def test_exactly_the_trials_that_run_a_line_change_with_it(copy, forget, file, affected):
    before = fingerprints()
    append(copy / file, "\n# a comment\n'a bare string'\n")
    forget()
    assert fingerprints() == before
    append(copy / file, "\nUNHEARD_OF = 1\n")
    forget()
    after = fingerprints()
    assert {name for name in before if before[name] != after[name]} == affected


def trial_keys():
    """Of a trial that trains on bumps, and of one whose task is a table."""
    recipe = {"net": Part("recombine.nets:mlp", sizes=(2, 8, 1)), "recipe": Recipe(steps=1)}
    bumps = Trial(Part("recombine.tasks:bumps", n=8), probes=(), seeds=(0,), **recipe)
    table = Trial(Part("table_task:rows", path="rows.csv"), probes=(), seeds=(0,), **recipe)
    return {"bumps": bumps.key, "table": table.key}


def test_the_reader_of_tables_counts_only_for_trials_that_read_tables(copy, edit, forget):
    edit("table_task.py", "from recombine import Split\ndef rows(path, seed): return Split.from_table(path)")
    first = trial_keys()
    append(copy / "data/delimited.py", "\nUNHEARD_OF = 1\n")
    forget()
    second = trial_keys()
    assert second["bumps"] == first["bumps"]
    assert second["table"] != first["table"]
    append(copy / "spaces/splits.py", "\nUNHEARD_OF = 1\n")
    forget()
    third = trial_keys()
    assert third["bumps"] != second["bumps"]
    assert third["table"] != second["table"]


def test_the_training_loop_counts_where_a_net_is_trained(copy, forget):
    before = fingerprints(trains=True)
    append(copy / "training/optimisers.py", "\nUNHEARD_OF = 1\n")
    forget()
    after = fingerprints(trains=True)
    assert all(before[name] != after[name] for name in before)


def test_added_files_keep_fingerprints(copy, forget):
    before = fingerprints(trains=True)
    (copy / "tasks" / "more").mkdir()
    (copy / "tasks" / "more" / "__init__.py").write_text("X = 1")
    (copy / "training" / "unused.py").write_text("Y = 1")
    forget()
    assert fingerprints(trains=True) == before


def test_moved_files_keep_names_and_fingerprints(copy, forget):
    before, names = fingerprints(trains=True), {p.name for parts in part_names().values() for p in parts}
    for old, new in {"tasks/bumps/grid_positions": "tasks/on_grids", "spaces/factors": "spaces/axes"}.items():
        (copy / f"{old}.py").rename(copy / f"{new}.py")
        old_module, new_module = (f"recombine.{path.replace('/', '.')}" for path in (old, new))
        for file in copy.rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if old_module in text:
                file.write_text(text.replace(old_module, new_module), encoding="utf-8")
    forget()
    assert Part("recombine.tasks.on_grids:bumps").name == "recombine.tasks:bumps"
    assert {p.name for parts in part_names().values() for p in parts} == names
    assert fingerprints(trains=True) == before


def test_how_results_are_presented_does_not_count(forget):
    modules = fingerprint.closure("recombine.metrics.interaction", "interaction_profile")
    assert "recombine.metrics.interaction.energies" in modules
    assert not [module for module in modules if module.startswith("recombine.report")]


def test_the_runner_imports_nothing_else_that_makes_numbers(forget):
    imported = {module for name in fingerprint.RUNNER for _, module, _ in fingerprint._scanned(name).links}
    accounted = {*fingerprint.RUNNER, fingerprint.TRAINING[0]}
    assert imported - accounted == {"recombine.errors"}


def test_a_module_that_does_not_exist_is_refused():
    for name in ("no_such_module_at_all:f", "no_such_package.module:f"):
        with pytest.raises(InputError, match="importable module"):
            code_fingerprint([Part(name)])


def test_another_compiler_is_another_fingerprint(monkeypatch, forget):
    part = Part("recombine.tasks:bumps", n=8)
    before = code_fingerprint((part,))
    forget()
    monkeypatch.setattr(fingerprint, "version", lambda name: "99.0")
    assert code_fingerprint((part,)) != before
