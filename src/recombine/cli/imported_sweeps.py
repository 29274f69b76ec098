"""The plan of a sweep that a file or a module holds: `my_sweep.py`, `my_sweep.py:name`, `module` or `module:name`."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.sweeps import SweepPlan

NAME = "sweep"
"""What the plan is called, unless the command names another."""

_EXAMPLE = "sweep = recombine.sweeps.plan(...)"


def imported_plan(words: str) -> SweepPlan:
    """The plan that a command was asked for.

    A file is imported as a module under its own name, and its folder stays first on the import path. Worker processes
    inherit the path, so that they find functions that the file defines.
    """
    from recombine.sweeps import Sweep, SweepPlan, sweep

    place, colon, attribute = words.rpartition(":")
    if not colon:
        place, attribute = words, NAME
    if not place or not attribute.isidentifier():
        raise InputError("plan", words, "a file such as my_sweep.py, or module:name")
    if place.endswith(".py") or os.sep in place or Path(place).is_file():
        module = _imported_file(Path(place))
    else:
        module = _imported_module(place)
    value = getattr(module, attribute, None)
    if isinstance(value, SweepPlan):
        return value
    if isinstance(value, Sweep):
        raise InputError(
            words, attribute, f"a plan; this sweep has run already, while the file was read: {_EXAMPLE}"
        )
    if value is None or value is sweep:
        raise InputError(words, attribute, f"the name of a plan in it{_plans_in(module, place, SweepPlan)}")
    raise InputError(words, f"{attribute} = {value!r}"[:60], f"a plan, as in {_EXAMPLE}")


def _plans_in(module: ModuleType, place: str, kind: type) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, kind)]
    if not names:
        return f", as in {_EXAMPLE}"
    return f" (it has {', '.join(f'{place}:{name}' for name in names)})"


def _imported_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("plan", str(path), "a Python file that exists")
    if path.suffix != ".py" or "." in path.stem:
        raise InputError(
            "plan", str(path), "a name that ends in .py and has no other dot, since it is imported"
        )
    path = path.resolve()
    taken = _other_source(path)
    if taken is not None:
        raise InputError("plan", path.name, f"another name: {path.stem} is a module already ({taken})")
    folder = str(path.parent)
    if folder not in sys.path[:1]:
        sys.path.insert(0, folder)
    return _imported(path.stem, path.name)


def _other_source(path: Path) -> str | None:
    """Where Python would find another module of that name, which the file would hide, or be hidden by."""
    name = path.stem
    if name in sys.builtin_module_names or name in sys.stdlib_module_names:
        return "of Python itself"
    known = sys.modules.get(name)
    origin = getattr(known, "__file__", None) or (known and "imported before")
    if origin is None:
        spec = PathFinder.find_spec(name, [folder for folder in sys.path if folder not in {"", os.getcwd()}])
        origin = None if spec is None else spec.origin
    return None if origin is None or Path(origin).resolve() == path else str(origin)


def _imported_module(name: str) -> ModuleType:
    if not all(step.isidentifier() for step in name.split(".")):
        raise InputError("plan", name, "a file such as my_sweep.py, or module:name")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    return _imported(name, name)


def _imported(name: str, shown: str) -> ModuleType:
    """The module; whatever its code raises is one line that says where."""
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except InputError as error:
        raise InputError(error.field, error.got, error.expected) from None
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            hint = f"; did you mean {name}.py?" if Path(f"{name}.py").is_file() else ""
            expected = f"a module that can be imported, or a Python file{hint}"
            raise InputError("plan", name, expected) from None
        raise _refused(shown, error) from error
    except (Exception, SystemExit) as error:
        raise _refused(shown, error) from error


def _refused(shown: str, error: BaseException) -> InputError:
    line, message = _line_of(error, shown), " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        message = error.msg
    place = f"{shown}, {line}" if line else shown
    return InputError("plan", place, f"code that can be imported ({type(error).__name__}: {message})"[:400])


def _line_of(error: BaseException, shown: str) -> str:
    """Where in the user's files it happened: the innermost line outside installed packages."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}" if error.lineno else ""
    ours = str(Path(__file__).parents[1])
    trace: Any = error.__traceback__
    found = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if (
            not file.startswith((ours, "<"))
            and "site-packages" not in file
            and f"{os.sep}importlib{os.sep}" not in file
        ):
            other = "" if Path(file).name == shown else f" of {Path(file).name}"
            found = f"line {trace.tb_lineno}{other}"
        trace = trace.tb_next
    return found
