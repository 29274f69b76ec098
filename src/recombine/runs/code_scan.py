"""One source file as a fingerprint sees it: a hash of what it does, and the files that its names come from."""

from __future__ import annotations

import ast
import hashlib
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from recombine.source_imports import (
    PACKAGE,
    SourceFile,
    absolute_module,
    find_source,
    is_type_checking,
    parse,
    resolve,
)

NOT_FOLLOWED = frozenset(
    {
        "recombine._version",  # a release without a change of code keeps results
        "recombine.runs.code_scan",
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
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")


class Link(NamedTuple):
    """A name that comes from another file.

    - `module`: where it is defined.
    - `method`: the static method that imports it, which matters only if something names that method; otherwise empty.
    """

    name: str
    module: str
    method: str


@dataclass
class CodeScan:
    """What a fingerprint needs to know about a file.

    - `digest`: a hash of the file, with followed imports reduced to their names.
    - `links`: where those names come from.
    - `names`: all names and strings that the code mentions, but not the names of the functions that it defines.
    """

    digest: str
    links: list[Link] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def scan(source: SourceFile) -> CodeScan:
    """Reads a file; one that is not valid Python (somebody is editing it) is hashed as it stands."""
    if source.path is None:
        return CodeScan(f"compiled {source.module}")
    tree = parse(source.path)
    if tree is None:
        return CodeScan(hashlib.sha256(source.path.read_bytes()).hexdigest())
    return _Writer(source).scan(tree)


def scan_text(source: bytes) -> CodeScan:
    """Code that is in no file; its imports are not followed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return CodeScan(hashlib.sha256(source).hexdigest())
    return _Writer(None).scan(tree)


def syntax_hash(source: bytes) -> str:
    """A hash of what Python code does: layout, comments and bare strings (docstrings) do not matter.

    ```python
    >>> from recombine.runs.code_scan import syntax_hash
    >>> a = syntax_hash(b"def f(x): return x + 1")
    >>> a == syntax_hash(b"def f(x):\\n    'Adds one.'\\n    return (x+1)  # done")
    True
    >>> a == syntax_hash(b"def f(x): return x + 2")
    False

    ```
    """
    return scan_text(source).digest


class _Writer:
    """Writes a syntax tree as text to be hashed, and notes on the way which names come from files to be followed."""

    def __init__(self, source: SourceFile | None) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._neighbours = None if source is None else _neighbours(source)
        # A package that is imported whole also gives what it loads on first use.
        self._skips_type_checking = source is not None and not source.folders
        self._links: list[Link] = []
        self._names: set[str] = set()
        self._static_methods: set[ast.AST] = set()
        self._method = ""

    def scan(self, tree: ast.Module) -> CodeScan:
        self.write(tree)
        digest = hashlib.sha256("".join(self._pieces).encode("utf-8", "surrogatepass")).hexdigest()
        return CodeScan(digest, self._links, self._names)

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
            if kind is ast.ClassDef:
                self._static_methods.update(_static_methods(node))  # type: ignore[arg-type]
            if kind is ast.FunctionDef and not self._method and node in self._static_methods:
                self._method = node.name  # type: ignore[attr-defined]
                self._write_fields(node)
                self._method = ""
            else:
                self._write_fields(node)
        else:
            pieces.append(repr(node))

    def _write_fields(self, node: ast.AST) -> None:
        pieces, kind = self._pieces, type(node)
        pieces.append("(" + kind.__name__)
        for name, label in _fields(kind.__name__):
            value = getattr(node, name, None)
            # Empty fields are left out, so that a field which a later Python adds to a node changes nothing.
            if value is not None and value != []:
                pieces.append(label)
                if type(value) is str:
                    if kind not in _FUNCTIONS:
                        self._names.add(value)
                    self._write_string(value)
                else:
                    self.write(value)
        pieces.append(")")

    def _write_string(self, text: str) -> None:
        self._pieces.append(repr(text))
        if ":" in text and _REFERENCE.fullmatch(text):
            module, _, name = text.partition(":")
            head, *methods = name.split(".")
            self._names.update(methods)
            self._link(module, head, text)

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
            self._links.append(Link(bound, target[0], self._method))

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


def _static_methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The static methods of a class without bases: nobody calls them without naming them.

    Code of a base class might (`torch.autograd.Function` calls `forward`), and so might any other decorator.
    """
    if node.bases or node.keywords:
        return
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and len(item.decorator_list) == 1:
            decorator = item.decorator_list[0]
            if isinstance(decorator, ast.Name) and decorator.id == "staticmethod":
                yield item


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
