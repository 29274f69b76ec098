"""How a net's modules are found: from the known modules of its inputs, or from the weights alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from recombine.data.arrays import as_array
from recombine.errors import InputError
from recombine.metrics.connectivity import (
    Chain,
    Labels,
    Live,
    assign_components,
    assign_known,
    assign_unknown,
    choose_modules,
)

Modules = Sequence[int] | Literal["own"] | None
"""A module number for every unit; `"own"` for 0, 1, 2, ...; `None` if they are not known."""

Source = Literal["inputs", "number", "chosen"]
"""Where modules come from: those of the inputs are known; only their number is known; or nothing is."""

MAX_UNITS = 3000
"""Live units among which unknown modules are searched; time grows with the third power of their number."""
MAX_MODULES = 12
"""The largest number of modules that is tried if the number is not known."""
QUICK_UNITS = 400
"""Searches among fewer units take a second or two and need no progress bar."""


@dataclass(frozen=True)
class ModuleSearch:
    """A way to find modules that can be repeated on shuffled weights.

    **Attributes:**

    - `find`: from weights to a module number for every unit.
    - `is_long`: whether it takes long enough to show its progress.
    """

    source: Source
    find: Callable[[Chain], Labels]
    is_long: bool = False


def is_long(live: Live) -> bool:
    """Whether a search among these units takes longer than a second or two."""
    return sum(int(mask.sum()) for mask in live) > QUICK_UNITS


def module_search(
    weights: Chain, live: Live, *, modules: int | None, inputs: Modules, outputs: Modules, seed: int
) -> ModuleSearch:
    """Chooses the way to find modules that fits what is known.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.module_search import module_search
    >>> from recombine.metrics.connectivity import all_live
    >>> weights = (np.array([[1.0, 0.1, 2.0], [0.1, 1.0, 1.0]]),)
    >>> search = module_search(weights, all_live(weights), modules=None, inputs="own", outputs=None, seed=0)
    >>> search.source, [labels.tolist() for labels in search.find(weights)]
    ('inputs', [[0, 1], [0, 1, 0]])

    ```
    """
    if modules is not None and (isinstance(modules, bool) or not isinstance(modules, int) or modules < 2):
        raise InputError("modules", modules, "2 or more, or nothing if the number is not known")
    if inputs is None:
        if outputs is not None:
            raise InputError(
                "outputs",
                outputs,
                "the modules of inputs, too; without them, modules are found without outputs",
            )
        return _search_in_weights(weights, live, modules, seed)
    known = _known_modules("inputs", inputs, weights[0].shape[0])
    last = None if outputs is None else _known_modules("outputs", outputs, weights[-1].shape[1])
    number = max(known) + 1
    if sorted(set(known)) != list(range(number)) or number < 2:
        raise InputError("inputs", inputs, "modules from 0 on without gaps, two or more of them")
    if modules not in {None, number}:
        raise InputError("modules", modules, f"{number}, as inputs says, or nothing")
    return ModuleSearch("inputs", partial(assign_known, inputs=known, outputs=last, live=live))


def _known_modules(field: str, modules: Sequence[int] | Literal["own"], units: int) -> list[int]:
    if isinstance(modules, str):
        if modules != "own":
            raise InputError(field, modules, "module numbers, or 'own' for a module each")
        return list(range(units))
    numbers = as_array(field, modules)
    if numbers.shape != (units,) or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise InputError(field, modules, f"a module number, 0 or more, for each of {units} units")
    return [int(number) for number in numbers]


def _search_in_weights(weights: Chain, live: Live, modules: int | None, seed: int) -> ModuleSearch:
    units = sum(int(mask.sum()) for mask in live)
    if modules is not None and modules > units:
        raise InputError("modules", modules, f"a number from 2 to {units}, the live units of the net")
    if units > MAX_UNITS:  # even if the net falls apart by itself, shuffled nets have to be searched
        raise InputError(
            "weights",
            f"{units:,} live units",
            f"at most {MAX_UNITS:,} where modules are searched; or give the modules of inputs",
        )
    source: Source = "chosen" if modules is None else "number"
    number = modules or component_count(weights, live)
    if number < 2:
        number = choose_modules(weights, live=live, max_modules=MAX_MODULES, seed=seed)
    search = partial(find_modules, modules=number, live=live, seed=seed)
    return ModuleSearch(source, search, is_long(live))


def component_count(weights: Chain, live: Live) -> int:
    """Into how many parts without any connection between them the net falls; single units do not count."""
    return max(int(labels.max()) for labels in assign_components(weights, live=live)) + 1


def find_modules(weights: Chain, *, modules: int, live: Live, seed: int) -> Labels:
    """Divides the live units into `modules` modules: disconnected parts first, and clustering if there are too few.

    Clustering is not safe where a net falls apart: it may cut a large part in two rather than separate a small one,
    since that gives the larger Newman modularity. Parts without any connection between them are therefore found
    exactly. If there are more parts than modules, they are grouped so that modules have about equally many units.

    ```python
    >>> import numpy as np
    >>> from scipy.linalg import block_diag
    >>> from recombine.metrics.connectivity import all_live
    >>> from recombine.modularity.module_search import find_modules
    >>> weights = (block_diag(np.ones((5, 5)), np.ones((1, 1))),)
    >>> [labels.tolist() for labels in find_modules(weights, modules=2, live=all_live(weights), seed=0)]
    [[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]]

    ```
    """
    labels = assign_components(weights, live=live)
    sizes = np.bincount(np.concatenate([part[part >= 0] for part in labels]), minlength=1)
    if len(sizes) < modules:
        return in_order(assign_unknown(weights, modules, live=live, seed=seed))
    groups = np.zeros(len(sizes), dtype=int)
    totals = np.zeros(modules, dtype=int)
    for part in np.argsort(-sizes, kind="stable"):  # the largest first, each into the smallest module
        groups[part] = np.argmin(totals)
        totals[groups[part]] += sizes[part]
    grouped = [np.where(part >= 0, groups[part], -1) for part in labels]
    for end in (0, -1):  # inputs and outputs without a connection always count; their module means nothing
        grouped[end] = np.maximum(grouped[end], 0)
    return in_order(tuple(grouped))


def in_order(labels: Labels) -> Labels:
    """The same modules, numbered in the order of their first units, so that the first input is in module 0.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.module_search import in_order
    >>> [numbers.tolist() for numbers in in_order((np.array([3, 1]), np.array([1, -1, 3, 0])))]
    [[0, 1], [1, -1, 0, 2]]

    ```
    """
    together = np.concatenate(labels)
    present, first = np.unique(together[together >= 0], return_index=True)
    number = np.full(int(together.max()) + 1, -1)
    number[present[np.argsort(first)]] = np.arange(len(present))
    return tuple(np.where(values >= 0, number[values], -1) for values in labels)
