"""Models by name from the current folder, and the errors if there is none."""

import sys

import pytest

from recombine import InputError
from recombine.models import ModelError, import_model, source_files

MODULE = """
import math
class Net:
    def __call__(self, x):
        return x + 1
class Sized(Net):
    def __init__(self, size, *, depth): pass
def make_net(size=3): return Net()
def predict(x): return 2 * x
def several(*inputs): return inputs[0]
def fails(): raise OSError("no weights")
net = Net()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_nets.py").write_text(MODULE)
    (tmp_path / "needs.py").write_text("import a_missing_dependency")
    (tmp_path / "leaves.py").write_text("import sys; sys.exit(3)")
    (tmp_path / "typo.py").write_text("def f(:\n")
    before = list(sys.path), set(sys.modules)
    yield
    assert sys.path in (before[0], [*before[0], str(tmp_path)])
    sys.path[:] = before[0]
    for name in {"my_nets", "needs", "leaves", "typo", "late", "helper_of_late"} & set(sys.modules):
        del sys.modules[name]


def test_a_sibling_imported_inside_a_function(tmp_path):
    (tmp_path / "helper_of_late.py").write_text("def double(x): return 2 * x")
    (tmp_path / "late.py").write_text(
        "def predict(x):\n    from helper_of_late import double\n    return double(x)\n"
    )
    model = import_model("late:predict")
    assert model(3) == 6
    assert sys.path[-1] == str(tmp_path)  # the end, where it shadows nothing


def test_after_an_error_the_path_is_as_it_was(tmp_path):
    with pytest.raises(ModelError):
        import_model("needs:x")
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("name", "expected"), [("net", 4), ("Net", 4), ("make_net", 4), ("predict", 6), ("several", 3)]
)
def test_models_are_built_or_used_as_they_are(name, expected):
    assert import_model(f"my_nets:{name}")(3) == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my_nets", "package.module:name"),
        ("my_nets.py:net", "package.module:name"),
        (":net", "package.module:name"),
        ("my_net:net", "got 'my_net', expected a module .* .did you mean my_nets"),
        ("my_nets.deep:net", "got 'my_nets.deep'"),
        ("my_nets:nett", "got 'nett', expected one of: Net, Sized, make_net, .* .did you mean net"),
        ("my_nets:Sized", "the class Sized, which needs size, depth"),
    ],
)
def test_names_that_lead_nowhere(name, words):
    with pytest.raises(InputError, match=words) as caught:
        import_model(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("needs:x", "while importing needs: ModuleNotFoundError: No module named 'a_missing_dependency'"),
        ("leaves:x", "while importing leaves: SystemExit: 3"),
        ("typo:x", "while importing typo: SyntaxError"),
        ("my_nets:fails", r"while calling fails\(\): OSError: no weights"),
    ],
)
def test_code_that_fails(name, words):
    with pytest.raises(ModelError, match=words) as caught:
        import_model(name)
    assert caught.value.trace


def test_source_files_are_found_without_importing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer" / "__init__.py").write_text("raise SystemExit")
    (tmp_path / "outer" / "inner" / "net.py").write_text("raise SystemExit")
    found = source_files("outer.inner.net:make")
    assert found == [tmp_path / "outer" / "__init__.py", tmp_path / "outer" / "inner" / "net.py"]
    assert source_files("outer.missing:make") == found[:1]
    for name in ("", ":", "..:x", "weights.npz", "a/b.py:x", "a\0b:x"):
        assert source_files(name) == []
