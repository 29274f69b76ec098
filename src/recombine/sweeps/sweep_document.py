"""What a sweep says, for the terminal and for pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.intervals import median_ranks
from recombine.report import (
    Block,
    Bullets,
    Column,
    Document,
    Only,
    Picture,
    Row,
    Section,
    Table,
    bracket,
    count,
    duration,
    page_footer,
)
from recombine.sweeps.summary import best_point, endings, main_value, point_summary, shown_values
from recombine.sweeps.sweep_frame import DIVERGED, FAILED, SweepFrame

if TYPE_CHECKING:
    from recombine.sweeps.sweep_result import Sweep

MAX_ROWS = 40
"""Points that a table shows; the frame has all."""
MAX_REASONS = 5


def sweep_document(sweep: Sweep) -> Document:
    """The report of a sweep."""
    table = sweep.table
    values = shown_values(table)
    blocks: list[Block] = [_point_table(table, values)]
    hidden = len(sweep.plan.grid) - MAX_ROWS
    if hidden > 0:
        blocks.append(f"{count(hidden, 'more point')}: see `frame()`, or write a file.")
    best = _best_sentence(table)
    if best:
        blocks.append(best)
    sections = [Section("", blocks[:1]), Section("", blocks[1:])] if blocks[1:] else [Section("", blocks)]
    reasons = _reasons(table)
    if reasons:
        sections.append(Section("What went wrong", [Bullets(reasons)]))
    if values:
        name = main_value(table, None)
        picture = Picture(
            "sweep",
            sweep.plot,
            f"{name} at every point of the sweep: a point per seed, and a line through the medians.",
            f"{name} against the swept settings",
        )
        sections.append(Section("Figure", [Only("page", [picture])], where="page"))
    title = f"Sweep {sweep.plan.name}".strip()
    return Document(title, _lead(sweep), sections, page_footer(sweep=f"{sweep.plan.n_trials:,} trials"))


def _lead(sweep: Sweep) -> str:
    plan = sweep.plan
    points = count(len(plan.grid), "point")
    stored = plan.n_trials - sweep.ran
    work = (
        "all from the store"
        if not sweep.ran
        else f"{count(sweep.ran, 'trial')} run in {duration(sweep.seconds)}"
    )
    if sweep.ran and stored:
        work += f", {stored:,} from the store"
    name = f"{plan.name}: " if plan.name else ""
    swept = f" over {', '.join(f'`{path}`' for path in plan.grid.paths)}" if plan.grid.paths else ""
    return f"{name}{points}{swept}, {count(len(plan.seeds), 'seed')} each · {work}"


def _point_table(table: SweepFrame, values: list[str]) -> Table:
    statuses = table.status()
    shown = range(min(len(statuses), MAX_ROWS))
    names = short_names(table.swept)
    columns = [Column(names[path], "left" if _is_text(table, path) else "right") for path in table.swept]
    columns += [Column(name, "left", group=_estimate_words(table.seeds)) for name in values]
    columns.append(Column("seeds", "left"))
    rows = []
    for i in shown:
        entries = [setting_text(value) for value in table.settings(i).values()]
        estimates = point_summary(table, i, values)
        entries += [bracket(one) for one in estimates.values()]
        bad = endings(statuses[i])
        problems = [f"{n} {name}" for name, n in bad.items() if n]
        entries.append(", ".join([str(table.seeds - sum(bad.values())), *problems]))
        rows.append(Row(entries))
    return Table(columns, rows)


def _estimate_words(seeds: int) -> str:
    """What the columns of values show."""
    if seeds == 1:
        return "one seed"
    return f"median over seeds [{median_ranks(seeds)[1]:.0%} interval]"


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """The shortest ends of paths that tell them apart.

    ```python
    >>> from recombine.sweeps.sweep_document import short_names
    >>> short_names(["net.width", "recipe.optimiser.learning_rate"])
    {'net.width': 'width', 'recipe.optimiser.learning_rate': 'learning_rate'}
    >>> short_names(["net.n", "task.n"])
    {'net.n': 'net.n', 'task.n': 'task.n'}

    ```
    """
    steps = {path: path.split(".") for path in paths}
    most = max((len(one) for one in steps.values()), default=1)
    names: dict[str, str] = {}
    for path, own in steps.items():
        ends = {n: ".".join(own[-n:]) for n in range(1, most + 1) if not own[-n:][0].isdecimal()}
        others = [one for other, one in steps.items() if other != path]
        clear = (end for n, end in ends.items() if not any(".".join(one[-n:]) == end for one in others))
        names[path] = next(clear, path)
    return names


def setting_text(value: Any) -> str:
    """A swept value in a table or in a legend."""
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_text(table: SweepFrame, path: str) -> bool:
    return not table.frame[path].dtype.is_numeric()


def _best_sentence(table: SweepFrame) -> str:
    if len(table.status()) < 2 or not table.numeric():
        return ""
    name = main_value(table, None)
    whole = ~np.isin(table.status(), (FAILED, DIVERGED)).any(axis=1)
    if not (whole & np.isfinite(table.by_point(name)).any(axis=1)).any():
        return ""
    point = best_point(table, name, lowest=True, with_failures=False)
    names = short_names(table.swept)
    settings = ", ".join(
        f"{names[path]} {setting_text(value)}" for path, value in table.settings(point).items()
    )
    return f"Lowest {name}: {bracket(point_summary(table, point, [name])[name])} with {settings}"


def _reasons(table: SweepFrame) -> list[str]:
    """The reasons of failed and diverged seeds, the most frequent first."""
    frame = table.frame
    reasons = Counter(
        (status, error)
        for status, error in zip(frame["status"].to_list(), frame["error"].to_list(), strict=True)
        if error is not None
    )
    shown = [
        f"{count(n, 'seed')} {status}: {error}" for (status, error), n in reasons.most_common(MAX_REASONS)
    ]
    more = len(reasons) - MAX_REASONS
    return shown + ([f"{count(more, 'more reason')} in the column `error` of the frame"] if more > 0 else [])
