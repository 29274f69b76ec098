"""Solving an architecture: from its description, data and gates to what gradient descent ends at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.gated.architecture import GatedArchitecture
from recombine.theory.gated.gated_rows import Array, DiagonalRows, GatedRows
from recombine.theory.gated.group_margin import GroupMachine, Kind, min_group_norm_machine
from recombine.theory.gated.nuclear_margin import min_nuclear_norm
from recombine.theory.penalties import finite


@dataclass(frozen=True, eq=False)
class ArchitectureLimit:
    """The solution of minimum norm of an architecture.

    - `coefficients`: in the shape of the architecture's norm.
    - `norm`: `R`, the smallest squared norm of parameters that meet all constraints (plus the cost of slack, if any).
    - `gap`: relative duality gap of the programme.
    - `outputs`: on the training rows.
    """

    coefficients: Float[Array, ...]
    norm: float
    gap: float
    outputs: Float[Array, " rows"]


def solve_architecture(
    architecture: GatedArchitecture,
    inputs: Float[Array, "rows inputs"],
    targets: Float[Array, " rows"],
    *,
    contexts: Any = None,
    readout_contexts: Any = None,
    kind: Kind = "hard margin",
) -> ArchitectureLimit:
    """Where gradient descent on an architecture ends, if its norm is convex.

    **Arguments:**

    - `contexts`: `(rows, units)` of the first layer, or `(rows,)` if all units share a gate; not needed without gates.
    - `readout_contexts`: `(rows,)`, if the readout is gated.
    - `kind`: `"hard margin"` or `"regression"`.

    **Raises:** [`recombine.InputError`][] if the norm is not convex, or `InseparableError` if nothing fits.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedArchitecture, GatedLayer, solve_architecture
    >>> x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    >>> linear = GatedArchitecture(2, (GatedLayer(1),))
    >>> solve_architecture(linear, x, y).coefficients.round(4).tolist()
    [1.0, -1.0]

    ```
    """
    norm = architecture.norm()
    if not norm.convex:
        raise InputError("architecture", norm.formula, f"a convex norm; {norm.reason}")
    if kind == "soft margin":
        raise InputError("kind", kind, "'hard margin' or 'regression'; for slack use min_group_norm_machine")
    x = finite("inputs", inputs, ndim=2)
    if x.shape[1] != architecture.inputs:
        raise InputError("inputs", x.shape, f"(rows, inputs) with {architecture.inputs} inputs")
    first, readout = architecture.layers[0], architecture.layers[-1]
    gates = _gates(x, contexts, gated=first.gated, shared=first.shared)
    if readout.gated and architecture.depth == 2:
        found = min_nuclear_norm(
            GatedRows.of(x, gates[:, :1], n_contexts=first.contexts),
            _one_gate("readout_contexts", readout_contexts, len(x)),
            targets,
            kind=kind,
            n_readout=readout.contexts,
        )
        return ArchitectureLimit(found.matrix, norm.value(found.matrix), found.gap, found.outputs)
    rows: GatedRows | DiagonalRows
    if first.wiring == "one to one":
        rows = DiagonalRows(x)
    elif len(norm.shape) == 3:
        if gates.shape[1] != first.units:
            raise InputError("contexts", gates.shape, f"(rows, units) with {first.units} units")
        rows = GatedRows.of(x, gates, n_contexts=first.contexts)
    else:
        rows = GatedRows.of(x, gates[:, :1], n_contexts=first.contexts)
    machine = min_group_norm_machine(rows, targets, kind=kind)
    coefficients = machine.weights.reshape(norm.shape)
    return ArchitectureLimit(
        coefficients, norm.value(coefficients), machine.gap, rows.predict(machine.weights)
    )


def _gates(x: Array, contexts: Any, *, gated: bool, shared: bool) -> Array:
    """`(rows, units)`, or one column for a gate that all units share."""
    if contexts is None:
        if gated:
            raise InputError("contexts", None, "the context of every unit in every row")
        return np.zeros((len(x), 1), dtype=int)
    found = np.asarray(contexts)
    gates = found[:, None] if found.ndim == 1 else found
    if gates.ndim != 2 or not gates.shape[1]:
        raise InputError("contexts", found.shape, "(rows, units)" + (" or (rows,)" if shared else ""))
    if shared and (gates != gates[:, :1]).any():
        raise InputError("contexts", "units with different gates", "(rows,): all units share one gate")
    return gates[:, :1] if shared else gates


def _one_gate(field: str, contexts: Any, rows: int) -> Array:
    found = np.asarray(contexts) if contexts is not None else np.zeros(0)
    if found.shape != (rows,) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            field, None if contexts is None else found.shape, f"{rows} whole numbers, one per row"
        )
    return found


@dataclass(frozen=True, eq=False)
class OneAgainstRest:
    """One machine per class; the class with the largest output is predicted."""

    classes: tuple[Any, ...]
    machines: tuple[GroupMachine, ...]

    def outputs(self, rows: GatedRows) -> Float[Array, "rows classes"]:
        """Of every class's machine."""
        return np.stack([machine.predict(rows) for machine in self.machines], axis=1)

    def predict(self, rows: GatedRows) -> Array:
        """The predicted class of every row."""
        return np.asarray(self.classes)[self.outputs(rows).argmax(axis=1)]


def one_against_rest(
    rows: GatedRows,
    labels: Sequence[Any],
    *,
    fit: Callable[[GatedRows, Array], GroupMachine] = min_group_norm_machine,
) -> OneAgainstRest:
    """A machine for each class against all others.

    **Arguments:**

    - `fit`: from rows and labels -1 and 1 to a machine.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, one_against_rest
    >>> rows = GatedRows.of(np.eye(3), np.zeros((3, 1), dtype=int))
    >>> one_against_rest(rows, ["a", "b", "c"]).predict(rows).tolist()
    ['a', 'b', 'c']

    ```
    """
    found = np.asarray(labels)
    if found.shape != (len(rows),):
        raise InputError("labels", found.shape, f"one per row, {len(rows)}")
    try:
        classes = np.unique(found)
    except TypeError:
        raise InputError("labels", "labels of several kinds", "numbers or strings, not both") from None
    if len(classes) < 2:
        raise InputError("labels", classes.tolist(), "at least two classes")
    machines = [fit(rows, np.where(found == one, 1.0, -1.0)) for one in classes]
    return OneAgainstRest(tuple(classes.tolist()), tuple(machines))
