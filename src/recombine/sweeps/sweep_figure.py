"""A measured value against a swept setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.report import new_figure, seed_points
from recombine.report.figures.setting_lines import setting_lines
from recombine.sweeps.accepted import did_you_mean
from recombine.sweeps.sweep_document import setting_text, short_names
from recombine.sweeps.sweep_frame import SweepFrame

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_sweep(table: SweepFrame, value: str, x: str | None) -> Figure:
    """The figure behind `Sweep.plot`."""
    measured = table.by_point(value)
    if not table.swept:
        figure, panels = new_figure(aspect=0.25)
        seed_points(panels[0, 0], {"all seeds": measured[0]}, label=value)
        return figure
    across = _across(table, x)
    others = [path for path in table.swept if path != across and not _follows(table, path, across)]
    points = range(len(measured))
    settings = [table.frame[path].gather_every(table.seeds).to_list() for path in table.swept]
    at = dict(zip(table.swept, settings, strict=True))
    positions = list(dict.fromkeys(at[across]))
    lines = list(dict.fromkeys(tuple(at[path][i] for path in others) for i in points))
    # Explicit points, and settings that change together, may have several points in one place, or none.
    found: dict[tuple[Any, ...], dict[Any, list[int]]] = {line: {} for line in lines}
    for i in points:
        found[tuple(at[path][i] for path in others)].setdefault(at[across][i], []).append(i)
    most = max(len(one) for line in found.values() for one in line.values())
    names, series, lost = short_names(table.swept), {}, {}
    for line, by_position in found.items():
        values = np.full((most * table.seeds, len(positions)), np.nan)
        for column, position in enumerate(positions):
            here = measured[by_position.get(position, [])].ravel()
            values[: len(here), column] = here
        named = [f"{names[path]} {setting_text(one)}" for path, one in zip(others, line, strict=True)]
        if np.isfinite(values).any():
            series[", ".join(named)] = values
            lost[", ".join(named)] = [
                position
                for position, points_here in by_position.items()
                if not np.isfinite(measured[points_here]).all()
            ]
    figure, panels = new_figure(aspect=0.55)
    setting_lines(
        panels[0, 0],
        positions,
        series,
        lost=lost,
        setting=across,
        label=value,
        title=f"{value} for each {names[across]}: a point per seed, a line through the medians"
        + ("; ×: no value" if any(lost.values()) else ""),
    )
    return figure


def _follows(table: SweepFrame, path: str, across: str) -> bool:
    """Whether the setting on the horizontal axis determines another one, because the two change together."""
    pairs = set(zip(table.frame[across].to_list(), table.frame[path].to_list(), strict=True))
    return len(pairs) == table.frame[across].n_unique()


def _across(table: SweepFrame, x: str | None) -> str:
    if x is not None:
        if x not in table.swept:
            known = ", ".join(table.swept)
            raise InputError("x", x, f"a swept setting{did_you_mean(str(x), table.swept)} (known: {known})")
        return x

    def rank(path: str) -> tuple[bool, int]:
        return table.frame[path].dtype.is_numeric(), table.frame[path].n_unique()

    return max(table.swept, key=rank)
