"""What a split alone says about unseen combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.advice.activations import estimated_profile
from recombine.advice.assembly import advice_on
from recombine.advice.memory import check_factors
from recombine.advice.profile import profile_of
from recombine.advice.result import Advice, Wishes
from recombine.advice.table import observe
from recombine.errors import InputError
from recombine.theory import OverlapKernel, SalienceEstimate


def advise(
    table: Any,
    *,
    factors: Sequence[str],
    seen: str,
    orders: Sequence[int] = (1, 2),
    target: str | None = None,
    average: bool = False,
    salience: str | OverlapKernel | SalienceEstimate | None = None,
    activations: Any = None,
    cost: str | None = None,
    ban: Sequence[Mapping[str, Any]] = (),
    exclude: Sequence[Mapping[str, Any]] = (),
    interest: str = "unseen",
    bins: Mapping[str, int] | None = None,
) -> Advice:
    """Says, before any training, what a model can and cannot know about combinations it will not see.

    **Arguments:**

    - `table`: a CSV or Parquet file, or a data frame, with one row per example; rows may repeat.
    - `factors`: the columns that are factors.
    - `seen`: which rows are for training: `"split=train"`, `"split!=test"`, or a column of true and false.
    - `orders`: up to which order effects of conjunctions are allowed to matter.
    - `target`: the column of labels; `average`: use the mean where a cell has several.
    - `salience`: of the model's representation, as `"relu:3"`, a kernel, or what `estimate_salience` found.
    - `activations`: instead, the activity `(rows, ...)` of a layer on all rows of the table, from which saliences
        are estimated; an array, or the path of a `.npy` file, or of a `.npz` file with one array.
    - `cost`: a column with the cost of adding an example of the row's cell. Cells that the table does not have cost
        as much as the dearest one. Among equals, cells that have rows (so can be had) are added first.
    - `ban`: cells that cannot be added, each by some of its levels: `{"size": "huge"}` bans all huge ones.
    - `exclude`: cells that cannot exist, in the same form; they are no cells of interest either.
    - `interest`: `"unseen"`, all cells that training lacks (if there are at most ten million), or `"table"`, only
        those that have rows.
    - `bins`: for columns of real numbers, into how many ranges they are cut.

    ```python
    >>> from recombine import advise
    >>> table = {"colour": ["red", "red", "blue", "blue"], "shape": ["cat", "dog", "cat", "dog"]}
    >>> advice = advise(table | {"train": [True, True, True, False]}, factors=["colour", "shape"], seen="train")
    >>> advice.orders[1].determined, len(advice.orders[2].additions.cells)
    (array([ True]), 1)

    ```
    """
    found = observe(table, factors=factors, seen=seen, target=target, cost=cost, bins=bins)
    n_factors = len(found.space.shape)
    orders = tuple(dict.fromkeys(min(int(order), n_factors) for order in orders))
    if not orders or min(orders) < 1:
        raise InputError("order", orders, f"whole numbers from 1 to the {n_factors} factors")
    check_factors(n_factors)
    if activations is not None and salience is not None:
        raise InputError("salience", salience, "saliences or activations to estimate them from, not both")
    profile = profile_of(salience, n_factors)
    if activations is not None:
        profile = estimated_profile(activations, found)
    return advice_on(found, Wishes(orders, profile, average, ban, exclude, interest))
