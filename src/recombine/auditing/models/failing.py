"""What the user's code raises, and names that nobody knows: errors that say which place and what would do."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from recombine.errors import InputError

_HERE = str(Path(__file__).parent)
_MOST_NAMES = 100


class ModelError(Exception):
    """The user's model raised something: one line of words, with the whole traceback beside it.

    **Attributes:**

    - `stage`: what was going on, such as `"while running rows 0 to 255"`.
    - `trace`: the formatted traceback of the user's code, from the place where it was entered.

    ```python
    >>> from recombine.auditing.models import ModelError
    >>> raise ModelError("while running rows 0 to 1", "ValueError: no", "Traceback ...")
    Traceback (most recent call last):
    recombine.auditing.models.failing.ModelError: the model failed while running rows 0 to 1: ValueError: no

    ```
    """

    def __init__(self, stage: str, words: str, trace: str) -> None:
        self.stage, self.words, self.trace = stage, words, trace
        super().__init__(f"the model failed {stage}: {words}")

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str, str]]:
        return ModelError, (self.stage, self.words, self.trace)


class NoDerivativeError(Exception):
    """The model cannot be differentiated automatically."""


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
    place = trace
    while place is not None and place.tb_frame.f_code.co_filename.startswith(_HERE):
        place = place.tb_next
    return place or trace


def unknown(field: str, name: object, known: Sequence[object], *, otherwise: str = "") -> InputError:
    """An error about a name that is not among the known ones, with the nearest of them.

    ```python
    >>> from recombine.auditing.models.failing import unknown
    >>> print(unknown("layers", "hiden0", ["hidden0", "output"]))
    layers: got 'hiden0', expected one of: hidden0, output (did you mean hidden0?)

    ```
    """
    if not known:
        return InputError(field, name, otherwise or "nothing: there is none to choose from")
    names = [str(each) for each in known]
    near = [one for one in difflib.get_close_matches(str(name), names, n=1) if one != name]
    hint = f" (did you mean {near[0]}?)" if near else ""
    listed = [*names[:_MOST_NAMES], "..."] if len(names) > _MOST_NAMES else names
    return InputError(field, name, f"one of: {', '.join(listed)}{hint}")
