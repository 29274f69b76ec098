"""Where a name is defined, read from source files. Nothing is imported, so nothing heavy is started.

Two things rest on it. Parts are stored under public names (`recombine.tasks:bumps`), so that moving a file changes no
trial. And the fingerprint of a trial covers the files that its parts import, directly or through other files.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).parent


@dataclass(frozen=True)
class SourceFile:
    """The source file of a module.

    **Arguments:**

    - `path`: the file; `None` for a compiled module and for a folder without an `__init__.py`.
    - `folders`: where the modules of a package lie; empty for a plain module.
    """

    module: str
    path: Path | None
    folders: tuple[Path, ...] = ()

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.module if self.folders else self.module.rpartition(".")[0]


def forget() -> None:
    """Forgets all files that were read; for tests that change them."""
    importlib.invalidate_caches()
    for function in (find_source, parse, _exports, public_name, _definition, _public_surface):
        function.cache_clear()


@cache
def find_source(module: str) -> SourceFile | None:
    """The source of a module, or `None` if there is no such module."""
    if module == PACKAGE:
        return SourceFile(module, _ROOT / "__init__.py", (_ROOT,))
    parent, _, name = module.rpartition(".")
    if parent:
        package = find_source(parent)
        return None if package is None else _in_folders(module, name, package.folders)
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    is_file = spec.has_location and spec.origin is not None and spec.origin.endswith(".py")
    path = Path(spec.origin) if is_file and spec.origin is not None else None
    return SourceFile(module, path, tuple(Path(folder) for folder in spec.submodule_search_locations or ()))


def _in_folders(module: str, name: str, folders: tuple[Path, ...]) -> SourceFile | None:
    for folder in folders:
        if (file := folder / name / "__init__.py").is_file():
            return SourceFile(module, file, (folder / name,))
        if (file := folder / f"{name}.py").is_file():
            return SourceFile(module, file)
        if any(folder.glob(f"{name}.*.so")) or any(folder.glob(f"{name}.*.pyd")):
            return SourceFile(module, None)
        if (folder / name).is_dir():
            return SourceFile(module, None, (folder / name,))
    return None


@cache
def parse(path: Path) -> ast.Module | None:
    """The syntax tree of a file, or `None` if it is not valid Python (somebody is editing it)."""
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return None


def absolute_module(node: ast.ImportFrom, source: SourceFile) -> str:
    """The full name of the module in `from module import ...`, also if it begins with dots."""
    if node.level == 0:
        return node.module or ""
    steps = source.package.split(".")
    base = steps[: len(steps) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def is_type_checking(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`, whose body never runs."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def resolve(module: str, name: str) -> tuple[str, str | None] | None:
    """The module to read for `from module import name`.

    A package that only passes the name on is skipped: its other names do not matter. Names that a package loads on
    first use are looked up in its imports under `if TYPE_CHECKING:`, and in its tables of names and modules.

    **Returns:**

    The module and the name in it, with `None` for the name if the module itself is meant; or `None` if there is no
    such module.
    """
    for _ in range(20):  # a chain of packages that pass a name on; more would be a circle
        source = find_source(module)
        if source is None:
            return None
        if not source.folders:
            return module, name
        target = _exports(module).get(name)
        if target is None:
            below = f"{module}.{name}"
            return (below, None) if find_source(below) is not None else (module, name)
        module, name = target
        if name == "":
            return module, None
    return module, name


@cache
def _exports(module: str) -> dict[str, tuple[str, str]]:
    """The names that a module imports at its top level, with the module and the name that each comes from."""
    source = find_source(module)
    tree = None if source is None or source.path is None else parse(source.path)
    if source is None or tree is None:
        return {}
    exports: dict[str, tuple[str, str]] = {}
    defined: set[str] = set()
    for node in _top_level(tree.body):
        if isinstance(node, ast.ImportFrom):
            origin = absolute_module(node, source)
            for alias in node.names:
                target = (
                    (f"{origin}.{alias.name}", "")
                    if _is_submodule(origin, alias.name)
                    else (origin, alias.name)
                )
                exports[alias.asname or alias.name] = target
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for name, origin in _table(node.value):
                exports.setdefault(name, (origin, name))
    return {name: target for name, target in exports.items() if name not in defined}


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements outside functions and classes, also those under `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _top_level([*node.body, *node.orelse])
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _top_level(handler.body)


def _is_submodule(package: str, name: str) -> bool:
    source = find_source(package)
    if source is None or not source.folders:
        return False
    return name not in _exports_without_cycle(package) and find_source(f"{package}.{name}") is not None


def _exports_without_cycle(package: str) -> set[str]:
    """Names that a package imports from somewhere else than itself, without resolving them."""
    source = find_source(package)
    tree = None if source is None or source.path is None else parse(source.path)
    if source is None or tree is None:
        return set()
    return {
        alias.asname or alias.name
        for node in _top_level(tree.body)
        if isinstance(node, ast.ImportFrom) and absolute_module(node, source) != package
        for alias in node.names
    }


def _table(node: ast.Dict) -> Iterator[tuple[str, str]]:
    """The entries of a table such as `{"fit": "recombine.training"}`."""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
            name, module = key.value, value.value
            if (
                isinstance(name, str)
                and isinstance(module, str)
                and re.fullmatch(rf"{PACKAGE}(\.\w+)+", module)
            ):
                yield name, module


@cache
def public_name(name: str) -> str:
    """The public name of an object of this package; any other name as it is.

    That is the name under which the outermost sub-package that contains the object exports it (in its `__all__`).
    An object that no package exports keeps the name of its module.

    **Arguments:**

    - `name`: as `package.module:name`.

    ```python
    >>> from recombine.source_imports import public_name
    >>> public_name("recombine.spaces.factors:Space"), public_name("math:sin")
    ('recombine.spaces:Space', 'math:sin')

    ```
    """
    module, _, qualname = name.partition(":")
    head, dot, rest = qualname.partition(".")
    defined = _definition(module, head) if module.partition(".")[0] == PACKAGE else None
    if defined is None:
        return name
    steps = defined[0].split(".")
    for length in range(2, len(steps)):
        package = ".".join(steps[:length])
        for exported in _public_surface(package):
            if _definition(package, exported) == defined:
                return f"{package}:{exported}{dot}{rest}"
    return f"{defined[0]}:{defined[1]}{dot}{rest}"


@cache
def _definition(module: str, name: str) -> tuple[str, str] | None:
    """Where an object is defined, following imports of plain modules too; `None` for what cannot be found."""
    for _ in range(20):
        location = resolve(module, name)
        if location is None or location[1] is None:
            return None
        module, name = location[0], location[1]
        target = None if _defines(module, name) else _exports(module).get(name)
        if target is None or target[1] == "" or target[0].partition(".")[0] != PACKAGE:
            return module, name
        module, name = target
    return None


def _defines(module: str, name: str) -> bool:
    """A quick look for `def name` or `class name`, which spares parsing most files."""
    source = find_source(module)
    if source is None or source.path is None:
        return False
    text = source.path.read_text(encoding="utf-8", errors="replace")
    return re.search(rf"^(async )?(def|class) {name}\b", text, re.MULTILINE) is not None


@cache
def _public_surface(package: str) -> tuple[str, ...]:
    """What `__all__` of a package lists."""
    source = find_source(package)
    tree = None if source is None or source.path is None else parse(source.path)
    for node in tree.body if tree is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(value, ast.List | ast.Tuple):
                return tuple(str(item.value) for item in value.elts if isinstance(item, ast.Constant))
    return ()
