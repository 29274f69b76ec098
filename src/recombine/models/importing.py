"""A model by its import name, for the command line: `package.module:name`."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from recombine.errors import InputError
from recombine.models.model_errors import as_model_error, unknown_name, user_code

_FORM = "package.module:name, such as nets:make_model"


def import_model(name: str) -> Any:
    """The model that an import name refers to.

    A class, and a function that needs no arguments, is called to get the model; anything else is the model itself.
    The current folder comes first on the import path meanwhile. Afterwards it stays at the end of the path, because a
    model may import a sibling module when it is called.

    ```python
    >>> from recombine.models import import_model
    >>> import_model("math:sqrt")(4.0)
    2.0

    ```
    """
    module_name, colon, attribute = name.partition(":")
    if module_name.endswith(".py") and "/" not in module_name and attribute:
        raise InputError(
            "model", name, f"{_FORM} (did you mean {module_name.removesuffix('.py')}:{attribute}?)"
        )
    if not colon or not module_name or not attribute or "/" in module_name or module_name.endswith(".py"):
        raise InputError("model", name, _FORM)
    with _current_folder_first():
        value: Any = _imported(module_name)
        for step in attribute.split("."):
            if not hasattr(value, step):
                raise unknown_name(
                    "model", step, _public(value), otherwise=f"a name that is defined in {module_name}"
                )
            value = getattr(value, step)
        return _made(value, attribute)


def source_files(name: str) -> list[Path]:
    """The files that importing a model would run: its module, and the packages around it. Nothing is imported.

    Modules without a source file, and names that cannot be found, have none.

    ```python
    >>> from recombine.models.importing import source_files
    >>> [path.name for path in source_files("json.decoder:JSONDecoder")], source_files("sys:path")
    (['__init__.py', 'decoder.py'], [])

    ```
    """
    importlib.invalidate_caches()
    folders = [os.getcwd(), *sys.path]
    files: list[Path] = []
    for part in name.partition(":")[0].split("."):
        try:
            spec = PathFinder.find_spec(part, folders)
        except (ImportError, ValueError, OSError):
            return files
        if spec is None:
            return files
        if spec.has_location and spec.origin is not None:
            files.append(Path(spec.origin))
        folders = list(spec.submodule_search_locations or ())
    return files


def _imported(name: str) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        absent = error.name or ""
        if name != absent and not name.startswith(f"{absent}."):
            raise as_model_error(f"while importing {name}", error) from error
        near = difflib.get_close_matches(
            name, [module.name for module in pkgutil.iter_modules([os.getcwd()])]
        )
        hint = f" (did you mean {near[0]}?)" if near else ""
        expected = f"a module that can be imported from the current folder{hint}"
        raise InputError("model", absent, expected) from None
    except (Exception, SystemExit) as error:
        raise as_model_error(f"while importing {name}", error) from error


def _made(value: Any, name: str) -> Any:
    if not isinstance(value, type) and not inspect.isfunction(value):
        return value
    needed = _required_arguments(value)
    if not needed:
        with user_code(f"while calling {name}()"):
            made = value()
        if made is None:
            raise InputError("model", f"{name}() returns None", "a function that returns the model")
        return made
    if isinstance(value, type):
        got = f"the class {name}, which needs {', '.join(needed)}"
        raise InputError("model", got, "a model, or a function without arguments that makes it")
    return value


def _required_arguments(function: Any) -> list[str]:
    """Arguments without a default; `*inputs` counts, because a function that has it takes inputs."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    free = [inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL][: 1 + isinstance(function, type)]
    return [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in free]


def _public(module: Any) -> list[str]:
    """Names of what could be a model: those that the module defines itself, if it defines any."""
    names = [name for name in vars(module) if not name.startswith("_")] if hasattr(module, "__dict__") else []
    values = {name: getattr(module, name) for name in names}
    usable = [
        name
        for name, value in values.items()
        if not isinstance(value, ModuleType) and (callable(value) or hasattr(value, "predict"))
    ]
    own = getattr(module, "__name__", None)
    defined = [name for name in usable if _module_of(values[name], own) == own]
    return defined or usable


def _module_of(value: Any, own: str | None) -> str | None:
    """Where functions and classes are defined; objects made of them belong to the module that holds them."""
    is_definition = isinstance(value, type) or inspect.isroutine(value)
    return getattr(value, "__module__", own) if is_definition else own


@contextmanager
def _current_folder_first() -> Iterator[None]:
    """The current folder is first on the import path inside, and last afterwards, so that it shadows nothing.

    After an error the path is as it was. An empty entry, as in interactive sessions, means the current folder already.
    """
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    if not {folder, ""} & set(sys.path):
        sys.path.append(folder)
