"""Errors that a user can act on."""


class InputError(ValueError):
    """Bad input: one line that names the field, the value that was got and what would be accepted.

    ```python
    >>> raise InputError("sigma", -1.0, "a positive number of pixels")
    Traceback (most recent call last):
    recombine.errors.InputError: sigma: got -1.0, expected a positive number of pixels

    ```
    """

    def __init__(self, field: str, got: object, expected: str) -> None:
        self.field, self.got, self.expected = field, got, expected
        super().__init__(f"{field}: got {got!r}, expected {expected}")


class StoreError(OSError):
    """The store cannot be read or written; the message says which file and what to do."""


class DatasetError(OSError):
    """A data set is missing, damaged or cannot be fetched; the message says what was tried and what to do."""
