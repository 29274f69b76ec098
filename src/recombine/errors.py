"""Errors that a user can act on."""

MAX_SHOWN = 500
"""Characters of a bad value that a message shows."""


class InputError(ValueError):
    """Bad input: one line that names the field, the value and what is accepted.

    ```python
    >>> raise InputError("sigma", -1.0, "a positive number of pixels")
    Traceback (most recent call last):
    recombine.errors.InputError: sigma: got -1.0, expected a positive number of pixels

    ```
    """

    def __init__(self, field: str, got: object, expected: str) -> None:
        self.field, self.got, self.expected = field, got, expected
        message = f"{field}: got {_shown(got)}, expected {expected}"
        # Names that users chose can hold line ends and lone surrogates, which could not be printed.
        message = message.replace("\r", "\\r").replace("\n", "\\n")
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))


def _shown(value: object) -> str:
    """A value's `repr`, in one line and not too long; frames and arrays have many lines, and some classes raise."""
    try:
        shown = repr(value) if isinstance(value, str) else " ".join(repr(value).split())
    except Exception:
        return type(value).__name__
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…"


class StoreError(OSError):
    """The store cannot be read or written; the message says which file and what to do."""


class DatasetError(OSError):
    """A data set is missing, damaged or cannot be fetched; the message says what was tried and what to do."""
