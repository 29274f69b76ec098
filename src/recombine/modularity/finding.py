"""How a net's modules are found: from what is known of its inputs, or from the weights alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from recombine.errors import InputError
from recombine.probes.connectivity import (
    Chain,
    Labels,
    Live,
    assign_known,
    assign_unknown,
    choose_modules,
)

Modules = Sequence[int] | Literal["own"] | None
"""A module number for every unit; `"own"` for 0, 1, 2, ...; `None` if they are not known."""

Source = Literal["inputs", "number", "chosen"]
"""Where modules come from: those of the inputs are known; their number was given; it was chosen, too."""

MOST_UNITS = 3000
"""Live units among which unknown modules are searched; time grows with the third power of their number."""
MOST_MODULES = 12
"""The largest number of modules that is tried if none is given."""
QUICK_UNITS = 400
"""Searches among fewer units take a second or two, and need no progress shown."""


@dataclass(frozen=True)
class Finder:
    """A way to find modules, that can be used again on shuffled weights.

    - `find`: from weights to a module number for every unit.
    - `is_long`: whether it takes long enough to show its progress.
    """

    source: Source
    find: Callable[[Chain], Labels]
    is_long: bool = False


def is_long(live: Live) -> bool:
    """Whether a search among these units takes longer than a second or two."""
    return sum(int(mask.sum()) for mask in live) > QUICK_UNITS


def finder(
    weights: Chain, live: Live, *, modules: int | None, inputs: Modules, outputs: Modules, seed: int
) -> Finder:
    """The way that fits what is known.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.finding import finder
    >>> from recombine.probes.connectivity import all_live
    >>> weights = (np.array([[1.0, 0.1, 2.0], [0.1, 1.0, 1.0]]),)
    >>> how = finder(weights, all_live(weights), modules=None, inputs="own", outputs=None, seed=0)
    >>> how.source, [labels.tolist() for labels in how.find(weights)]
    ('inputs', [[0, 1], [0, 1, 0]])

    ```
    """
    if modules is not None and (isinstance(modules, bool) or not isinstance(modules, int) or modules < 2):
        raise InputError("modules", modules, "2 or more, or nothing if it is not known")
    if inputs is None:
        if outputs is not None:
            raise InputError(
                "outputs",
                outputs,
                "the modules of inputs, too; without them, modules are found without outputs",
            )
        return _searching(weights, live, modules, seed)
    known = _known("inputs", inputs, weights[0].shape[0])
    last = None if outputs is None else _known("outputs", outputs, weights[-1].shape[1])
    wanted = max(known) + 1
    if sorted(set(known)) != list(range(wanted)) or wanted < 2:
        raise InputError("inputs", inputs, "modules from 0 on without gaps, two or more of them")
    if modules not in {None, wanted}:
        raise InputError("modules", modules, f"{wanted}, as inputs says, or nothing")
    return Finder("inputs", partial(assign_known, inputs=known, outputs=last, live=live))


def _known(field: str, given: Sequence[int] | Literal["own"], units: int) -> list[int]:
    if isinstance(given, str):
        if given != "own":
            raise InputError(field, given, "module numbers, or 'own' for a module each")
        return list(range(units))
    numbers = np.asarray(given)
    if numbers.shape != (units,) or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise InputError(field, given, f"a module number, 0 or more, for each of {units} units")
    return [int(number) for number in numbers]


def _searching(weights: Chain, live: Live, modules: int | None, seed: int) -> Finder:
    units = sum(int(mask.sum()) for mask in live)
    if modules is not None and modules > units:
        raise InputError("modules", modules, f"a number from 2 to {units}, the live units of the net")
    if units > MOST_UNITS:
        raise InputError(
            "weights",
            f"{units:,} live units",
            f"at most {MOST_UNITS:,} where modules are searched; or give the modules of inputs",
        )
    number = choose_modules(weights, live=live, most=MOST_MODULES, seed=seed) if modules is None else modules
    source: Source = "chosen" if modules is None else "number"
    return Finder(source, partial(_search, modules=number, live=live, seed=seed), is_long(live))


def _search(weights: Chain, *, modules: int, live: Live, seed: int) -> Labels:
    return in_order(assign_unknown(weights, modules, live=live, seed=seed))


def in_order(labels: Labels) -> Labels:
    """The same modules, numbered in the order of their first units, so that the first input is in module 0.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.finding import in_order
    >>> [found.tolist() for found in in_order((np.array([3, 1]), np.array([1, -1, 3, 0])))]
    [[0, 1], [1, -1, 0, 2]]

    ```
    """
    every = np.concatenate(labels)
    present, first = np.unique(every[every >= 0], return_index=True)
    number = np.full(int(every.max()) + 1, -1)
    number[present[np.argsort(first)]] = np.arange(len(present))
    return tuple(np.where(values >= 0, number[values], -1) for values in labels)
