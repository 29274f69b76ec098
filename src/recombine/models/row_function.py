"""A user's function as a function of rows: does it take rows together or one example at a time? Found by trying."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.models.model import TRYING
from recombine.models.model_errors import ModelError, user_code
from recombine.models.model_inputs import Inputs
from recombine.models.model_outputs import OutputPath, arrays_in, at, choose, is_array, rows_error, to_numpy

DISAGREES = "rows together get different outputs than one row at a time; they are run together"


@dataclass(frozen=True)
class Convention:
    """How a function is called: with rows together or one at a time, and where in its result the output is."""

    by_rows: bool
    path: OutputPath
    note: str | None


def calling_convention(
    call: Callable[[Inputs], Any],
    inputs: Inputs,
    output: str | int | None = None,
    *,
    batched: bool | None = None,
    strict: bool = True,
    prepare: Callable[[dict[int, Any]], dict[int, Any]] = dict,
) -> Convention:
    """Rows are taken together if that works for two and for three of them, and otherwise one at a time.

    **Arguments:**

    - `call`: from inputs to a result, or to its shapes; errors of the user's code are `ModelError`s.
    - `output`: which of several outputs; see `recombine.models.as_model`.
    - `batched`: whether the function takes batches, if the user said so.
    - `strict`: refuse a function that drops or adds rows, instead of calling it with one row at a time.
    - `prepare`: what to make of the results for several numbers of rows before an output is chosen among them.
    """
    together: InputError | ModelError | None = None
    if batched is not False:
        results: dict[int, Any] = {}
        try:
            for count in (2, 3):
                results[count] = call(inputs.spread(count))
            results = prepare(results)
            return Convention(True, *choose(results, output))
        except (InputError, ModelError) as error:
            wrong_output = isinstance(error, InputError) and error.field == "output"
            if batched or wrong_output or (strict and _miscounts(results)):
                raise
            together = error
    try:
        single, _ = (call(inputs.row(number)) for number in (0, inputs.rows - 1))
        return Convention(False, *choose({1: single}, output, check=False))
    except ModelError as error:
        if together is None:
            raise
        if isinstance(together, ModelError):
            trace = f"{together.trace}\nOne row at a time:\n\n{error.trace}"
            raise ModelError(together.stage, together.words, trace) from together.__cause__
        raise together from None
    except InputError:
        if together is None:
            raise
        raise together from None


class RowFunction:
    """A function of arrays as a function of rows: outputs `(rows, ...)` as a NumPy array.

    ```python
    >>> import numpy as np
    >>> from recombine.models.row_function import RowFunction
    >>> from recombine.models.model_inputs import as_inputs
    >>> rows = as_inputs(np.ones((5, 2)))
    >>> norm = RowFunction(lambda row: float(np.sqrt(row @ row)), rows)
    >>> norm.by_rows, norm(rows, "while running").shape
    (False, (5,))

    ```
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Inputs,
        output: str | int | None = None,
        *,
        batched: bool | None = None,
        strict: bool = True,
    ) -> None:
        self.function, self._output, self._listed = function, output, False
        convention = calling_convention(
            self._tried, inputs, output, batched=batched, strict=strict, prepare=self._prepared
        )
        self.by_rows, self.path, self.note = convention.by_rows, convention.path, convention.note
        if self.by_rows and batched is None:
            self._compare(inputs.spread(2))

    def __call__(self, inputs: Inputs, stage: str) -> np.ndarray:
        """Outputs of some rows."""
        if self.by_rows:
            outputs = to_numpy(at(self._plain(self._call(inputs, stage)), self.path))
        else:
            rows = [self._single(inputs.row(number), stage) for number in range(inputs.rows)]
            if len({row.shape for row in rows}) > 1:
                got = f"outputs of shapes {sorted({row.shape for row in rows})[:2]}"
                raise InputError("model", got, "outputs of one shape")
            outputs = np.stack(rows)
        if not outputs.ndim or len(outputs) != inputs.rows:
            raise rows_error(outputs, inputs.rows)
        return outputs

    def _call(self, inputs: Inputs, stage: str) -> Any:
        with user_code(stage):
            return inputs.feed(self.function)

    def _tried(self, inputs: Inputs) -> Any:
        result = self._call(inputs, TRYING)
        return result if isinstance(result, list) and inputs.rows > 1 else self._plain(result)

    def _prepared(self, results: dict[int, Any]) -> dict[int, Any]:
        """Results for several numbers of rows; a list of that many arrays, each time, is a list of rows."""
        self._listed = self._output is None and all(_is_list(r, count) for count, r in results.items())
        return {count: self._plain(result) for count, result in results.items()}

    def _single(self, row: Inputs, stage: str) -> np.ndarray:
        return to_numpy(at(self._plain(self._call(row, stage)), self.path))

    def _plain(self, result: Any) -> Any:
        """Lists of rows and lists of numbers as arrays."""
        if self._listed:
            return np.stack([to_numpy(row) for row in result])
        if is_array(result) or arrays_in(result):
            return result
        if hasattr(result, "__array__") or isinstance(result, Number | str | tuple | list):
            try:
                array = np.asarray(result)
            except ValueError:  # ragged
                return result
            return result if array.dtype == object else array
        return result

    def _compare(self, rows: Inputs) -> None:
        """Adds a note if single rows are accepted, too, and give something else."""
        try:
            single, together = self._single(rows.row(0), TRYING), self(rows, TRYING)[0]
        except Exception:  # then they are not accepted
            return
        if single.shape != together.shape or single.dtype.kind not in "fiu":
            return
        if not same_numbers(single, together):
            self.note = " ".join(filter(None, [self.note, DISAGREES]))


def same_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two ways to compute an output agree up to rounding in single precision."""
    size = np.abs(np.nan_to_num(other, posinf=0.0, neginf=0.0)).max(initial=0.0)
    return one.shape == other.shape and bool(
        np.allclose(one, other, rtol=1e-3, atol=1e-5 * (1 + size), equal_nan=True)
    )


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
