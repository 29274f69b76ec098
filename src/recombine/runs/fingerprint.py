"""A fingerprint of the code that computes results, blind to comments, docstrings and formatting.

A stored result may be reused only while the code that made it is the code that would make it now. Reading
syntax trees rather than bytes keeps results valid through edits that cannot change a number.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recombine.errors import InputError
from recombine.parts import Part

NUMERIC_LAYERS = ("parts", "spaces", "tasks", "theory", "nets", "fit", "probes", "remedies")
"""What every result is taken to depend on, whichever parts a trial names."""

_PACKAGE = Path(__file__).parent.parent
_SILENT_FIELDS = frozenset({"ctx", "kind", "type_comment"})


def code_fingerprint(parts: Iterable[Part]) -> str:
    """A hash of the numeric layers, of the modules of those `parts` that live elsewhere, and of JAX's version.

    Only the module that defines a part is read, not what that module imports in turn. The compiler decides in
    which order sums are taken, so another version of it may give other numbers.
    """
    modules = sorted({part.name.partition(":")[0] for part in parts})
    outside = [module for module in modules if not _is_numeric(module)]
    lines = [_numeric_layers(), _compiler()]
    for module in outside:
        if module == "__main__":
            functions = sorted((p for p in parts if p.name.startswith("__main__:")), key=lambda p: p.name)
            lines.append(_main_module(functions))
        else:
            lines.append(f"{module} {_module(module)}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_numeric(module: str) -> bool:
    head, _, rest = module.partition(".")
    return head == _PACKAGE.name and rest.partition(".")[0] in NUMERIC_LAYERS


@cache
def _compiler() -> str:
    """The version of JAX's compiler, without importing it."""
    try:
        return f"jaxlib {version('jaxlib')}"
    except PackageNotFoundError:
        return "no jaxlib"


@cache
def _numeric_layers() -> str:
    lines = []
    for layer in NUMERIC_LAYERS:
        for path in (_PACKAGE / f"{layer}.py", *sorted((_PACKAGE / layer).rglob("*.py"))):
            if path.exists():
                lines.append(f"{path.relative_to(_PACKAGE).as_posix()} {syntax_hash(path.read_bytes())}")
    return "\n".join(lines)


@cache
def _module(module: str) -> str:
    """The syntax hash of a module found by name, without importing it (its parents are imported)."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise InputError("function", module, f"an importable module ({error})") from error
    if spec is None:
        raise InputError("function", module, "an importable module")
    if not spec.has_location or spec.origin is None or not spec.origin.endswith(".py"):
        return "compiled"
    return syntax_hash(Path(spec.origin).read_bytes())


def _main_module(parts: Iterable[Part]) -> str:
    """A script is read whole; in a notebook, which has no file, each function is read by itself."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is not None and Path(path).exists():
        return f"__main__ {syntax_hash(Path(path).read_bytes())}"
    try:
        sources = [textwrap.dedent(inspect.getsource(part.function)) for part in parts]
    except (OSError, TypeError) as error:
        expected = "functions whose source can be read; move them into a module"
        raise InputError("function", ", ".join(part.name for part in parts), expected) from error
    return " ".join(["__main__", *(syntax_hash(source.encode()) for source in sources)])


def syntax_hash(source: bytes) -> str:
    """A hash of what Python code does: layout, comments and bare strings (docstrings) do not enter.

    Code that is no valid Python (somebody is editing it) is hashed as it stands.

    ```python
    >>> from recombine.runs.fingerprint import syntax_hash
    >>> a = syntax_hash(b"def f(x): return x + 1")
    >>> a == syntax_hash(b"def f(x):\\n    'Adds one.'\\n    return (x+1)  # done")
    True
    >>> a == syntax_hash(b"def f(x): return x + 2")
    False

    ```
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return hashlib.sha256(source).hexdigest()
    pieces: list[str] = []
    _write(tree, pieces)
    return hashlib.sha256("".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: object, pieces: list[str]) -> None:
    # Empty fields are left out, so that a field which a later Python adds to a node changes nothing.
    if isinstance(node, ast.AST):
        pieces.append(f"({type(node).__name__}")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != [] and name not in _SILENT_FIELDS:
                pieces.append(f" {name}=")
                _write(value, pieces)
        pieces.append(")")
    elif isinstance(node, list):
        pieces.append("[")
        for item in node:
            if not _is_bare_string(item):
                _write(item, pieces)
                pieces.append(",")
        pieces.append("]")
    else:
        pieces.append(repr(node))


def _is_bare_string(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
