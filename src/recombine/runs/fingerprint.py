"""A fingerprint of the code that a trial runs, blind to comments, docstrings, formatting and the places of files.

A stored result may be reused only while the code that made it is the code that would make it now. The fingerprint
covers the *import closure* of the trial: the files that define its parts, the files that those import, and so on.

What is followed:

- imports of this package's own modules, and of the user's modules: those of the same top-level package, and those in
    the same folder. Imports inside functions count too.
- Names of functions in strings, as in `Part("recombine.tasks:bumps")`.
- `from recombine.tasks import bumps` leads to the file that defines `bumps`; the package's other names do not count.
    Where a whole package is imported (`import recombine.tasks as t`, `from recombine.tasks import *`), all that its
    `__init__` imports counts.

What is not followed: installed packages and the standard library (but the version of JAX's compiler counts, because
it decides in which order sums are taken); imports under `if TYPE_CHECKING:`; modules imported under a name that is made
up at run time; data files; and `recombine.report`, which presents numbers but makes none.

Files enter by what they do, not by where they are. So results stay valid if files are added or moved, or if a module is
changed that the trial does not use. They become invalid if any line changes in a file that the trial does use.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recombine.errors import InputError
from recombine.parts import Part
from recombine.source_imports import (
    PACKAGE,
    SourceFile,
    absolute_module,
    find_source,
    is_type_checking,
    parse,
    resolve,
)

RUNNER = ("recombine.parts", "recombine.runs.trial_runner", "recombine.runs.result")
"""The files that call the parts of any trial and arrange what they return. Their imports are not followed: of those,
only training makes numbers, and it counts for trials that train."""

TRAINING = ("recombine.training.loop", "fit")

NOT_FOLLOWED = frozenset(
    {
        "recombine._version",  # a release without a change of code keeps results
        "recombine.runs.fingerprint",
        "recombine.runs.trial",  # the trial itself is in its key
        "recombine.source_imports",
    }
)
"""Modules that a part's file may import but that make no numbers. The same holds for the package `report`: results can
present themselves, so many modules import it."""

_REPORT = "recombine.report"

_SILENT_FIELDS = frozenset({"ctx", "kind", "type_comment"})
_FOLLOWED_KINDS = frozenset({ast.Import, ast.ImportFrom, ast.If})
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")


def code_fingerprint(parts: Iterable[Part], *, trains: bool = True) -> str:
    """A hash of the code behind these parts; the module's docstring says what counts.

    **Arguments:**

    - `trains`: whether a net is trained, so that the training loop counts.

    **Raises:**

    `recombine.InputError` if the module of a part does not exist.
    """
    names = sorted({part.name for part in parts})
    roots = frozenset(name for name in names if not name.startswith("__main__:"))
    main = tuple(name for name in names if name.startswith("__main__:"))
    lines = [_compiler(), *sorted(_closure_hashes(roots, trains))]
    if main:
        lines += sorted(_main_hashes(main))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def closure(module: str, name: str | None = None) -> frozenset[str]:
    """The modules that make up the import closure of one name, or of a whole module.

    ```python
    >>> from recombine.runs.fingerprint import closure
    >>> modules = closure("recombine.spaces", "Space")
    >>> "recombine.spaces.factors" in modules, "recombine.spaces.holes" in modules
    (True, False)

    ```
    """
    target = resolve(module, name) if name is not None else (module, None)
    if target is None or find_source(target[0]) is None:
        raise InputError("function", module, "an importable module")
    return _reachable(target[0])


def forget() -> None:
    """Forgets all that was computed; for tests that change files."""
    for function in (_compiler, _closure_hashes, _reachable, _scanned, _file_hash, _linked_hash):
        function.cache_clear()


@cache
def _compiler() -> str:
    """The version of JAX's compiler, without importing it."""
    try:
        return f"jaxlib {version('jaxlib')}"
    except PackageNotFoundError:
        return "no jaxlib"


@cache
def _closure_hashes(names: frozenset[str], trains: bool) -> frozenset[str]:
    modules: set[str] = set()
    for name in names:
        module, _, qualname = name.partition(":")
        modules |= closure(module, qualname.partition(".")[0])
    if trains:
        modules |= closure(*TRAINING)
    return frozenset({_linked_hash(module) for module in modules} | {_file_hash(module) for module in RUNNER})


def _main_hashes(names: tuple[str, ...]) -> set[str]:
    """A script counts whole, with what it imports; in a notebook, which has no file, each function by itself."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is not None and Path(path).exists():
        script = _scan(SourceFile("__main__", Path(path).resolve()))
        modules = set().union(*(_reachable(module) for module in script.targets()))
        return {script.digest, *(_linked_hash(module) for module in modules)}
    parts = [Part(name) for name in names]
    try:
        sources = [textwrap.dedent(inspect.getsource(part.function)) for part in parts]
    except (OSError, TypeError) as error:
        expected = "functions whose source can be read; move them into a module"
        raise InputError("function", ", ".join(names), expected) from error
    return {syntax_hash(source.encode()) for source in sources}


@cache
def _reachable(module: str) -> frozenset[str]:
    """A module and all that it imports, directly or through others."""
    reached, todo = {module}, [module]
    while todo:
        for target in _scanned(todo.pop()).targets():
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return frozenset(reached)


@cache
def _file_hash(module: str) -> str:
    return _scanned(module).digest


@cache
def _linked_hash(module: str) -> str:
    """What a file does, and the content of the files that its imported names come from."""
    scan = _scanned(module)
    links = [f"{name} {_file_hash(target)}" for name, target in scan.links]
    return hashlib.sha256("\n".join([scan.digest, *links]).encode()).hexdigest()


@cache
def _scanned(module: str) -> _Scan:
    source = find_source(module)
    if source is None:
        raise InputError("function", module, "an importable module")
    return _scan(source)


@dataclass
class _Scan:
    """A file's own hash, with followed imports reduced to their names, and where those names come from."""

    digest: str
    links: list[tuple[str, str]] = field(default_factory=list)

    def targets(self) -> Iterator[str]:
        return (module for _, module in self.links)


def _scan(source: SourceFile) -> _Scan:
    if source.path is None:
        return _Scan(f"compiled {source.module}")
    tree = parse(source.path)
    if tree is None:
        return _Scan(hashlib.sha256(source.path.read_bytes()).hexdigest())
    writer = _Writer(source)
    writer.write(tree)
    return _Scan(writer.digest(), writer.links)


def syntax_hash(source: bytes) -> str:
    """A hash of what Python code does: layout, comments and bare strings (docstrings) do not matter.

    Code that is not valid Python (somebody is editing it) is hashed as it stands.

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
    writer = _Writer(None)
    writer.write(tree)
    return writer.digest()


class _Writer:
    """Writes a syntax tree as text to be hashed, and notes on the way which names come from files to be followed."""

    def __init__(self, source: SourceFile | None) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._neighbours = None if source is None else _neighbours(source)
        # A package that is imported whole also gives what it loads on first use.
        self._skips_type_checking = source is not None and not source.folders
        self.links: list[tuple[str, str]] = []

    def digest(self) -> str:
        return hashlib.sha256("".join(self._pieces).encode("utf-8", "surrogatepass")).hexdigest()

    def write(self, node: object) -> None:
        """Called for each of some 100,000 nodes, so it looks up what it can."""
        pieces, kind = self._pieces, type(node)
        if kind is list:
            pieces.append("[")
            for item in node:  # type: ignore[attr-defined]
                if type(item) is not ast.Expr or not _is_bare_string(item):
                    self.write(item)
                    pieces.append(",")
            pieces.append("]")
        elif isinstance(node, ast.AST):
            if self._source is not None and kind in _FOLLOWED_KINDS and self._follow(node):
                return
            pieces.append("(" + kind.__name__)
            for name, label in _fields(kind.__name__):
                value = getattr(node, name, None)
                # Empty fields are left out, so that a field which a later Python adds to a node changes nothing.
                if value is not None and value != []:
                    pieces.append(label)
                    if type(value) is str:
                        self._write_string(value)
                    else:
                        self.write(value)
            pieces.append(")")
        else:
            pieces.append(repr(node))

    def _write_string(self, text: str) -> None:
        self._pieces.append(repr(text))
        if ":" in text and _REFERENCE.fullmatch(text):
            module, _, name = text.partition(":")
            self._link(module, name.partition(".")[0], text)

    def _follow(self, node: ast.AST) -> bool:
        """Writes an import without the names of modules, if it is followed; leaves out what is for types only."""
        assert self._source is not None
        if isinstance(node, ast.If):
            if not self._skips_type_checking or not is_type_checking(node):
                return False
            self.write(node.orelse)
            return True
        if isinstance(node, ast.ImportFrom):
            module = absolute_module(node, self._source)
            if not self._is_followed(module):
                return False
            for alias in node.names:
                bound = alias.asname or alias.name
                self._pieces.append(f"(from {alias.name} {bound})")
                self._link(module, None if alias.name == "*" else alias.name, bound)
            return True
        assert isinstance(node, ast.Import)
        if not all(self._is_followed(alias.name) for alias in node.names):
            return False
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self._pieces.append(f"(import {bound})")
            self._link(alias.name, None, bound)
        return True

    def _link(self, module: str, name: str | None, bound: str) -> None:
        if not self._is_followed(module):
            return
        target = (module, None) if name is None else resolve(module, name)
        if target is not None and find_source(target[0]) is not None and _makes_numbers(target[0]):
            self.links.append((bound, target[0]))

    def _is_followed(self, module: str) -> bool:
        top = module.partition(".")[0]
        if top == PACKAGE:
            return self._neighbours is not None
        return self._neighbours is not None and top in self._neighbours


def _makes_numbers(module: str) -> bool:
    return module not in NOT_FOLLOWED and module != _REPORT and not module.startswith(f"{_REPORT}.")


class _Neighbours:
    """The top-level modules that count as code of the same author: a package and what lies in its folder."""

    def __init__(self, top: str, folder: Path | None) -> None:
        self._top, self._folder = top, folder

    def __contains__(self, name: str) -> bool:
        if name == self._top:
            return True
        if self._folder is None:
            return False
        source = find_source(name)
        if source is None:
            return False
        folders = source.folders or ((source.path,) if source.path is not None else ())
        return any(folder.parent == self._folder for folder in folders)


def _neighbours(source: SourceFile) -> _Neighbours | None:
    """`None` for installed packages and the standard library, whose imports are not followed."""
    top = source.module.partition(".")[0]
    if top == PACKAGE:
        return _Neighbours(top, None)
    whole = source if top == "__main__" else find_source(top)
    if whole is None or (whole.path is None and not whole.folders):
        return None
    folder = whole.folders[0].parent if whole.folders else whole.path.parent  # type: ignore[union-attr]
    return None if _is_installed(folder) else _Neighbours(top, folder)


def _is_installed(folder: Path) -> bool:
    library = any(folder.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return library or not {"site-packages", "dist-packages"}.isdisjoint(folder.parts)


@cache
def _fields(kind: str) -> tuple[tuple[str, str], ...]:
    names: tuple[str, ...] = getattr(ast, kind)._fields
    return tuple((name, f" {name}=") for name in names if name not in _SILENT_FIELDS)


def _is_bare_string(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
