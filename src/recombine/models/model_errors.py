"""Errors of the user's code, with where it was entered; and errors about unknown names, with the nearest known one."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from recombine.errors import InputError

_HERE = str(Path(__file__).parent)
_MAX_NAMES = 100


class ModelError(Exception):
    """The user's model raised an error: one line that says which, and its whole traceback.

    **Attributes:**

    - `stage`: what was being done, such as `"while running rows 0 to 255"`.
    - `words`: the error in one line.
    - `trace`: the formatted traceback, from where the user's code was entered.

    ```python
    >>> from recombine.models import ModelError
    >>> raise ModelError("while running rows 0 to 1", "ValueError: no", "Traceback ...")
    Traceback (most recent call last):
    recombine.models.model_errors.ModelError: the model failed while running rows 0 to 1: ValueError: no

    ```
    """

    def __init__(self, stage: str, words: str, trace: str) -> None:
        self.stage, self.words, self.trace = stage, words, trace
        super().__init__(f"the model failed {stage}: {words}")

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str, str]]:
        return ModelError, (self.stage, self.words, self.trace)


class NoDerivativeError(Exception):
    """The model cannot be differentiated automatically."""


class UntraceableError(TypeError):
    """JAX cannot trace the model; the message says why in one line."""


@contextmanager
def user_code(stage: str) -> Iterator[None]:
    """Whatever is raised inside becomes a `ModelError`."""
    try:
        yield
    except ModelError:
        raise
    except (Exception, SystemExit) as error:
        raise as_model_error(stage, error) from error


def as_model_error(stage: str, error: BaseException) -> ModelError:
    """The error in one line, and its traceback without the frames of this package that lead to it."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    kind = type(error).__name__
    lines = traceback.format_exception(type(error), error, _entered(error.__traceback__))
    return ModelError(stage, f"{kind}: {first}"[:300] if first else kind, "".join(lines))


def _entered(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame outside this package on."""
    frame = trace
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(_HERE):
        frame = frame.tb_next
    return frame or trace


def unknown_name(field: str, name: object, known: Sequence[object], *, otherwise: str = "") -> InputError:
    """The error about a name that is not among the known ones, with the nearest of them.

    ```python
    >>> from recombine.models.model_errors import unknown_name
    >>> print(unknown_name("layers", "hiden0", ["hidden0", "output"]))
    layers: got 'hiden0', expected one of: hidden0, output (did you mean hidden0?)

    ```
    """
    if not known:
        return InputError(field, name, otherwise or "None: there is nothing to choose from")
    names = [str(each) for each in known]
    near = [one for one in difflib.get_close_matches(str(name), names, n=1) if one != name]
    hint = f" (did you mean {near[0]}?)" if near else ""
    listed = [*names[:_MAX_NAMES], "..."] if len(names) > _MAX_NAMES else names
    return InputError(field, name, f"one of: {', '.join(listed)}{hint}")
