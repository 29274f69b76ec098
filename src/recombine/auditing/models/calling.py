"""A user's function, whether it takes rows together or one example at a time; found by trying."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from recombine.auditing.models.failing import ModelError, user_code
from recombine.auditing.models.inputs import Inputs
from recombine.auditing.models.model import TRYING
from recombine.auditing.models.outputs import Place, arrays_in, at, choose, is_array, rows_error, to_numpy
from recombine.errors import InputError


class RowFunction:
    """A function of arrays as a function of rows: outputs `(rows, ...)` as a NumPy array.

    Rows are given together if that works for two and for three of them, and else one at a time.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.models.calling import RowFunction
    >>> from recombine.auditing.models.inputs import as_inputs
    >>> rows = as_inputs(np.ones((5, 2)))
    >>> norm = RowFunction(lambda row: float(np.sqrt(row @ row)), rows)
    >>> norm.by_rows, norm(rows, "while running").shape
    (False, (5,))

    ```
    """

    def __init__(self, function: Callable[..., Any], inputs: Inputs, output: str | int | None = None) -> None:
        self.function = function
        self.by_rows, self.listed = True, False
        self.place: Place = ()
        self.note: str | None = None
        results: dict[int, Any] = {}
        together: InputError | ModelError | None = None
        try:
            for count in (2, 3):
                results[count] = self._call(inputs.spread(count), TRYING)
            self.listed = output is None and all(_is_list(r, count) for count, r in results.items())
            results = {count: self._plain(result) for count, result in results.items()}
            self.place, self.note = choose(results, output)
        except (InputError, ModelError) as error:
            if (isinstance(error, InputError) and error.field == "output") or _miscounts(results):
                raise
            together = error
        if together is None:
            self._compare(inputs.spread(2))
        else:
            self._one_at_a_time(inputs, output, together)

    def __call__(self, inputs: Inputs, stage: str) -> np.ndarray:
        """Outputs of some rows."""
        if self.by_rows:
            found = to_numpy(at(self._plain(self._call(inputs, stage)), self.place))
        else:
            rows = [self._single(inputs.row(number), stage) for number in range(inputs.rows)]
            if len({row.shape for row in rows}) > 1:
                got = f"outputs of shapes {sorted({row.shape for row in rows})[:2]}"
                raise InputError("model", got, "outputs of one shape")
            found = np.stack(rows)
        if not found.ndim or len(found) != inputs.rows:
            raise rows_error(found, inputs.rows)
        return found

    def _call(self, inputs: Inputs, stage: str) -> Any:
        with user_code(stage):
            return inputs.feed(self.function)

    def _single(self, row: Inputs, stage: str) -> np.ndarray:
        return to_numpy(at(self._plain(self._call(row, stage)), self.place))

    def _plain(self, result: Any) -> Any:
        """Lists of rows and lists of numbers as arrays."""
        if self.listed:
            return np.stack([to_numpy(row) for row in result])
        if is_array(result) or arrays_in(result):
            return result
        if hasattr(result, "__array__") or isinstance(result, Number | str | tuple | list):
            try:
                found = np.asarray(result)
            except ValueError:  # ragged
                return result
            return result if found.dtype == object else found
        return result

    def _one_at_a_time(
        self, inputs: Inputs, output: str | int | None, together: InputError | ModelError
    ) -> None:
        self.by_rows = self.listed = False
        try:
            results = [self._plain(self._call(inputs.row(number), TRYING)) for number in (0, inputs.rows - 1)]
            self.place, self.note = choose({1: results[0]}, output, check=False)
        except ModelError as single:
            if isinstance(together, ModelError):
                trace = f"{together.trace}\nOne row at a time:\n\n{single.trace}"
                raise ModelError(together.stage, together.words, trace) from together.__cause__
            raise together from None
        except InputError:
            raise together from None

    def _compare(self, rows: Inputs) -> None:
        """Adds a note if single rows are accepted, too, and give something else."""
        try:
            single, together = self._single(rows.row(0), TRYING), self(rows, TRYING)[0]
        except Exception:  # then they are not accepted
            return
        if single.shape != together.shape or single.dtype.kind not in "fiu":
            return
        if not np.allclose(single, together, rtol=1e-3, atol=1e-5, equal_nan=True):
            self.note = " ".join(filter(None, [self.note, OTHER]))


OTHER = "rows that are given together get other outputs than one row at a time; they are run together"


def _is_list(result: Any, rows: int) -> bool:
    if not isinstance(result, list) or len(result) != rows:
        return False
    shapes = {np.shape(row) for row in result if is_array(row)}
    return len(shapes) == 1 and all(is_array(row) for row in result)


def _miscounts(results: Mapping[int, Any]) -> bool:
    """Whether the function clearly takes rows, but drops or adds some of them."""
    if len(results) < 2 or not all(is_array(r) and len(r.shape) for r in results.values()):
        return False
    two, three = (result.shape[0] for result in results.values())
    return two != 2 and three - two == 1
