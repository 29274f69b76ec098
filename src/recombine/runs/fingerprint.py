"""A fingerprint of the code that a trial runs, blind to comments, docstrings, formatting and the places of files.

A stored result may be reused only while the code that made it is the code that would make it now. The fingerprint
covers the *import closure* of the trial: the files that define its parts, the files that those import, and so on.

What is followed:

- imports of this package's own modules, and of the user's modules: those of the same top-level package, and those in
    the same folder. Imports inside functions count too; those inside a static method only if something in the closure
    names the method. So `Split.from_table` makes the reader of tables count for trials that call it, and for no others.
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

import hashlib
import inspect
import sys
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import canonical_text
from recombine.runs.code_scan import CodeScan, scan, scan_text
from recombine.source_imports import SourceFile, find_source, resolve

RUNNER = ("recombine.parts", "recombine.runs.trial_runner", "recombine.runs.trial_result")
"""The files that call the parts of any trial and arrange what they return. Their imports are not followed: of those,
only training makes numbers, and it counts for trials that train."""

TRAINING = ("recombine.training.loop", "fit")


def code_fingerprint(parts: Iterable[Part], *, trains: bool = True) -> str:
    """A hash of the code behind these parts; the module's docstring says what counts.

    **Arguments:**

    - `trains`: whether a net is trained, so that the training loop counts.

    **Raises:**

    `recombine.InputError` if the module of a part does not exist.
    """
    return fingerprint_of(frozenset(part.name for part in parts), trains=trains)


def fingerprint_of(names: frozenset[str], *, trains: bool) -> str:
    """The fingerprint of the parts with these names."""
    if _names_main(names):
        return _fingerprint(names, trains)  # in a notebook, a function may change at any time
    return _remembered_fingerprint(names, trains)


def _fingerprint(names: frozenset[str], trains: bool) -> str:
    roots = frozenset(name for name in names if not name.startswith("__main__:"))
    scans = _main_scans(sorted(names - roots))
    imported = frozenset(link.module for scan in scans for link in scan.links)
    mentioned = frozenset(name for scan in scans for name in scan.names)
    hashes = {scan.digest for scan in scans} | _closure_hashes(roots, imported, mentioned, trains)
    return hashlib.sha256("\n".join([_compiler(), *sorted(hashes)]).encode()).hexdigest()


_remembered_fingerprint = cache(_fingerprint)


@cache
def _names_main(names: frozenset[str]) -> bool:
    return any(name.startswith("__main__:") for name in names)


def closure(module: str, name: str | None = None) -> frozenset[str]:
    """The modules that make up the import closure of one name, or of a whole module.

    ```python
    >>> from recombine.runs.fingerprint import closure
    >>> modules = closure("recombine.spaces", "Space")
    >>> "recombine.spaces.factors" in modules, "recombine.spaces.holes" in modules
    (True, False)

    ```
    """
    return _reached(frozenset({_defining_module(module, name)}), frozenset())[0]


def forget() -> None:
    """Forgets all that was computed; for tests that change files."""
    canonical_text.forget()
    for function in (
        _remembered_fingerprint,
        _compiler,
        _closure_hashes,
        _always_reached,
        _scanned,
        _linked_hash,
    ):
        function.cache_clear()


@cache
def _compiler() -> str:
    """The version of JAX's compiler, without importing it."""
    try:
        return f"jaxlib {version('jaxlib')}"
    except PackageNotFoundError:
        return "no jaxlib"


def _main_scans(names: Sequence[str]) -> list[CodeScan]:
    """A script counts whole, with what it imports; in a notebook, which has no file, each function by itself."""
    if not names:
        return []
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is not None and Path(path).exists():
        return [scan(SourceFile("__main__", Path(path).resolve()))]
    parts = [Part(name) for name in names]
    try:
        sources = [textwrap.dedent(inspect.getsource(part.function)) for part in parts]
    except (OSError, TypeError) as error:
        expected = "functions whose source can be read; move them into a module"
        raise InputError("function", ", ".join(names), expected) from error
    return [scan_text(source.encode()) for source in sources]


@cache
def _closure_hashes(
    names: frozenset[str], imported: frozenset[str], mentioned: frozenset[str], trains: bool
) -> frozenset[str]:
    """The hashes of all files behind some parts.

    **Arguments:**

    - `names`: of the parts.
    - `imported`, `mentioned`: the modules that the script imports, and all names in it.
    """
    roots, methods = set(imported), set(mentioned)
    for name in names:
        module, _, qualname = name.partition(":")
        head, *rest = qualname.split(".")
        roots.add(_defining_module(module, head))
        methods.update(rest)
    if trains:
        roots.add(_defining_module(*TRAINING))
    modules, called = _reached(frozenset(roots), frozenset(methods))
    hashes = {_linked_hash(module, called) for module in modules}
    return frozenset(hashes | {_scanned(module).digest for module in RUNNER})


def _defining_module(module: str, name: str | None) -> str:
    target = resolve(module, name) if name is not None else (module, None)
    if target is None or find_source(target[0]) is None:
        raise InputError("function", module, "an importable module")
    return target[0]


def _reached(roots: frozenset[str], mentioned: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The modules that some modules lead to, and the names of the static methods whose imports count.

    A static method counts if its name is `mentioned`, or if any module that was reached names it. What it imports may
    name further ones, so this goes on until nothing is added.
    """
    modules: set[str] = set()
    called: set[str] = set()
    todo = set(roots)
    while todo:
        modules.update(*(_always_reached(module) for module in todo))
        scans = [_scanned(module) for module in modules]
        waiting = {link for scan in scans for link in scan.links if link.method and link.method not in called}
        named = {
            link.method
            for link in waiting
            if link.method in mentioned or any(link.method in scan.names for scan in scans)
        }
        called |= named
        todo = {link.module for link in waiting if link.method in named}
    return frozenset(modules), frozenset(called)


@cache
def _always_reached(module: str) -> frozenset[str]:
    """A module and all that it imports, directly or through others, outside static methods."""
    reached, todo = {module}, [module]
    while todo:
        for link in _scanned(todo.pop()).links:
            if not link.method and link.module not in reached:
                reached.add(link.module)
                todo.append(link.module)
    return frozenset(reached)


@cache
def _linked_hash(module: str, called: frozenset[str]) -> str:
    """What a file does, and the content of the files that its imported names come from."""
    scan = _scanned(module)
    links = [
        f"{link.name} {_scanned(link.module).digest}"
        for link in scan.links
        if not link.method or link.method in called
    ]
    return hashlib.sha256("\n".join([scan.digest, *links]).encode()).hexdigest()


@cache
def _scanned(module: str) -> CodeScan:
    source = find_source(module)
    if source is None:
        raise InputError("function", module, "an importable module")
    return scan(source)
