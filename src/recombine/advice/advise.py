"""The entry point: what a split alone says about unseen combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recombine.advice.analysis import analyse_split
from recombine.advice.arguments import check_settings, checked_orders, checked_patterns
from recombine.advice.forecasts.salience_profile import profile_from_activations, salience_profile
from recombine.advice.memory_use import check_factors
from recombine.advice.result import Advice, AdviceSettings
from recombine.spaces.observations import Names, observe
from recombine.theory import OverlapKernel, SalienceEstimate


def advise(
    table: Any = None,
    *,
    factors: Names | Mapping[str, Any] | None = None,
    seen: Any = None,
    orders: int | str | Sequence[int] = (1, 2),
    target: Any = None,
    average: bool = False,
    salience: str | OverlapKernel | SalienceEstimate | None = None,
    activations: Any = None,
    cost: Any = None,
    ban: Sequence[Mapping[str, Any]] = (),
    exclude: Sequence[Mapping[str, Any]] = (),
    interest: str = "unseen",
    bins: Mapping[str, int | str] | str | None = None,
    missing: str = "error",
    progress: Callable[[str, float], None] | None = None,
) -> Advice:
    """Says, before any training, which unseen combinations a split determines, what to expect, and what to add.

    **Arguments:**

    - `table`: a CSV, Parquet or JSON-lines file (`"-"` for standard input), a data frame or a mapping of columns, with
        one row per example; rows may repeat. Or leave it out and pass `factors` as a mapping of names to columns.
    - `factors`: the columns that are factors: `["colour", "shape"]` or `"colour,shape"`.
    - `seen`: which rows are for training: `"split=train"`, `"split!=test"`, a column of true and false, or an array.
    - `orders`: how many factors may interact, for each analysis: 1 for additive factors, 2 for pairs.
    - `target`: the column of labels, or an array `(rows,)`; `average`: use the mean where a cell has several.
    - `salience`: the representation that forecasts assume: `"relu:3"` for a random network, a kernel, or the result of
        `estimate_salience`.
    - `activations`: or the activity `(rows, ...)` of a layer on all rows of the table, in which saliences are measured:
        an array, or the path of a `.npy` file, or of a `.npz` file with one array.
    - `cost`: a column or an array with the cost of adding an example of the row's cell. Cells without rows
        cost as much as the dearest one. At equal cost, cells that have rows (so can be collected) are added first.
    - `ban`: cells that cannot be added, each by some of its levels: `{"size": "huge"}` bans all huge ones.
    - `exclude`: cells that cannot exist, in the same form; the advice leaves them out.
    - `interest`: which unseen cells the advice is about: `"unseen"`, all of them (if there are at most ten million), or
        `"table"`, only those that have rows.
    - `bins`: for columns of real numbers, the number of ranges to cut them into: `{"weight": 4}`, `{"weight": "auto"}`
        for the cube root of the number of rows, or `"auto"` for all columns of real numbers.
    - `missing`: what a factor without a value in some row is: an `"error"`, or a `"level"` of its own.
    - `progress`: called with a label and the share that is done, if the advice takes long.

    ```python
    >>> from recombine import advise
    >>> table = {"colour": ["red", "red", "blue", "blue"], "shape": ["cat", "dog", "cat", "dog"]}
    >>> advice = advise(table | {"train": [True, True, True, False]}, factors=["colour", "shape"], seen="train")
    >>> advice.orders[1].determined, len(advice.orders[2].additions.cells)
    (array([ True]), 1)

    ```
    """
    check_settings(average=average, interest=interest, salience=salience, activations=activations)
    checked = checked_orders(orders)
    ban, exclude = checked_patterns("ban", ban), checked_patterns("exclude", exclude)
    observations = observe(
        table, factors=factors, seen=seen, target=target, cost=cost, bins=bins, missing=missing
    )
    n_factors = len(observations.space.shape)
    check_factors(n_factors)
    profile = salience_profile(salience, n_factors)
    if activations is not None:
        profile = profile_from_activations(activations, observations)
    allowed = tuple(dict.fromkeys(min(order, n_factors) for order in checked))
    settings = AdviceSettings(allowed, profile, bool(average), ban, exclude, interest)
    return analyse_split(observations, settings, progress=progress)
