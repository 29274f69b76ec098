"""Remedies that change the training data: more cells, other weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.advice import Advice, LeakForecast
from recombine.auditing.findings.finding import cell_list
from recombine.auditing.outputs import Outputs
from recombine.auditing.remedies.remedy import Remedy, lines
from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.thresholds import ADDED_SHARE, MAX_ADDED_CELLS, UNEVEN_LABELS
from recombine.report import count, percent

SHOWN_CELLS = 4
"""Cells that a title lists."""


def break_shortcut(
    framework: str, names: Sequence[str], explained: float, cells: Sequence[dict[str, Any]]
) -> Remedy:
    """For models that take a shortcut: training examples that contradict it."""
    factor = " and ".join(names)
    return Remedy(
        "break_shortcut",
        f"show {factor} with other targets in training, such as {cell_list(cells, SHOWN_CELLS)}",
        f"In training, {factor} alone predicts {percent(max(0.0, explained))} of the targets, so the model had little "
        "reason to learn the other factors.",
        add_wrong_cells_code(framework),
        cells=tuple(cells[:MAX_ADDED_CELLS]),
    )


def counterexamples(forecast: SplitForecast, factors: Sequence[int]) -> list[dict[str, Any]]:
    """For every level of the factors of a shortcut the unseen cell with the largest error, if that is wrong."""
    order = np.argsort(-np.nan_to_num(forecast.error), kind="stable")
    cells: dict[tuple[int, ...], dict[str, Any]] = {}
    for i in order[forecast.wrong[order]]:
        cell = forecast.advice.targets[i]
        cells.setdefault(tuple(cell[list(factors)].tolist()), forecast.advice.table.describe(cell))
    return list(cells.values())


def break_forecast_shortcut(framework: str, forecast: SplitForecast) -> Remedy:
    """For splits that reward a shortcut."""
    number = count(int(forecast.misled.sum()), "cell")
    misled = forecast.advice.targets[forecast.misled][:MAX_ADDED_CELLS]
    return Remedy(
        "break_shortcut",
        f"add to training some of the {number} for which the shortcut is wrong",
        "Training rewards a shortcut that is wrong for them, whether or not this model uses it.",
        misled_cells_code(framework),
        cells=tuple(forecast.advice.table.describe(cell) for cell in misled),
    )


def balance(framework: str, names: Sequence[str]) -> Remedy:
    """For shortcuts whose levels occur with several labels."""
    factor = " and ".join(names)
    return Remedy(
        "balance",
        f"weight training rows so that {factor} predicts the target less well",
        f"Training shows levels of {factor} with several targets, but not equally often.",
        balance_code(framework, names),
    )


def can_balance(forecast: SplitForecast, outputs: Outputs, factors: Sequence[int]) -> bool:
    """Whether most training rows have levels that occur with several labels, unevenly, so that weights help."""
    table = forecast.advice.table
    rows = table.seen & outputs.known
    if outputs.kind != "classification" or not rows.any():
        return False
    _, level = np.unique(table.cells[rows][:, list(factors)], axis=0, return_inverse=True)
    labels = np.zeros((level.max() + 1, len(outputs.classes)))
    np.add.at(labels, (level.ravel(), outputs.targets[rows].argmax(axis=1)), 1)
    several = (labels > 0).sum(axis=1) > 1
    uneven = labels.max(axis=1) > UNEVEN_LABELS * np.where(labels > 0, labels, np.inf).min(axis=1)
    return bool((several & uneven)[level.ravel()].mean() > 0.5)


def single_factors(framework: str) -> Remedy:
    """For models that superpose images."""
    return Remedy(
        "single_factors",
        "show each factor alone in training (single-factor renderings)",
        "A model that has drawn each factor on its own can combine the drawings; one that has not adds up images.",
        single_factors_code(framework),
    )


def partners(framework: str, leak: LeakForecast) -> Remedy:
    """For memorisation leaks: the levels that training shows in the fewest combinations."""
    rare = sorted(
        (number, name, level) for name, levels in leak.partners.items() for level, number in levels[:2]
    )[:3]
    listed = ", ".join(f"{name} {level!r} (so far in {number})" for number, name, level in rare)
    return Remedy(
        "partners",
        f"show rare levels in more combinations: {listed}",
        "The more partners a level was seen with, the more of its effect is stored with the level itself.",
        partners_code(framework),
    )


def add_cells(framework: str, forecast: SplitForecast) -> Remedy:
    """The fewest cells that determine all others."""
    cells = forecast.additions()
    return Remedy(
        "add_cells",
        f"add {count(len(cells), 'cell')} to training: {cell_list(cells, SHOWN_CELLS)}",
        f"Then training determines every unseen cell, if effects of up to {forecast.order} factors add up.",
        add_cells_code(framework),
        cells=tuple(cells),
    )


def add_wrong_cells(framework: str, forecast: SplitForecast) -> Remedy:
    """For tasks that are not sums of effects."""
    order = np.argsort(-np.nan_to_num(forecast.error), kind="stable")
    worst = forecast.advice.targets[order[forecast.wrong[order]][: added_cells(len(forecast.cells))]]
    cells = [forecast.advice.table.describe(cell) for cell in worst]
    return Remedy(
        "add_wrong_cells",
        f"add unseen cells that are wrong now, such as {cell_list(cells, SHOWN_CELLS)}",
        "The seen targets are not sums of effects of few factors, so each combination carries information of its own.",
        add_wrong_cells_code(framework),
        cells=tuple(cells),
    )


def add_informative_cells(framework: str, cells: Sequence[dict[str, Any]]) -> Remedy:
    """Cells whose levels have the fewest seen partners."""
    return Remedy(
        "add_informative_cells",
        f"add {count(len(cells), 'cell')} whose levels were seen in few combinations: {cell_list(cells, SHOWN_CELLS)}",
        "The more partners a level was seen with, the better its effect can be separated from theirs.",
        partners_code(framework),
        cells=tuple(cells),
    )


def added_cells(unseen: int) -> int:
    """How many cells a remedy adds that may add any."""
    return int(np.clip(round(ADDED_SHARE * unseen), 1, MAX_ADDED_CELLS))


def flip_cells(framework: str, advice: Advice) -> Remedy:
    """The fewest labelled cells that turn the largest margin."""
    assert advice.corrective_cells is not None
    cells = [advice.table.describe(cell) for cell in advice.corrective_cells.cells]
    return Remedy(
        "flip_cells",
        f"add {count(len(cells), 'cell')} that break the shortcut: {cell_list(cells, SHOWN_CELLS)}",
        "Then maximum margin, the limit of training with cross-entropy, gets the other unseen cells right.",
        flip_cells_code(framework),
        cells=tuple(cells),
    )


def balance_code(framework: str, factors: Sequence[str]) -> str:
    """Weights of training rows that make factors and target independent."""
    names = " and ".join(factors)
    use = {
        "torch": "sampler = torch.utils.data.WeightedRandomSampler(weight.tolist(), num_samples=len(weight))",
        "sklearn": "model.fit(x, label, sample_weight=weight)  # most estimators take it",
    }
    imports = "import numpy as np\nimport torch" if framework == "torch" else "import numpy as np"
    return "\n".join(
        [
            imports,
            "",
            f"# level, label: (rows,) of the training rows: their {names}, and their targets",
            "pair = np.stack([level, label]).astype(str)",
            "_, group, rows = np.unique(pair, axis=1, return_inverse=True, return_counts=True)",
            "weight = 1 / rows[group]",
            use.get(
                framework, "batch = np.random.default_rng(0).choice(len(weight), 64, p=weight / weight.sum())"
            ),
        ]
    )


def partners_code(framework: str) -> str:
    """Where more partners help most."""
    return lines(
        """
        cells = report.forecast.table().sort("retention")  # unseen cells, those that shrink most first
        print(cells.head(10))
        """
    )


def add_cells_code(framework: str) -> str:
    """The fewest cells that determine all others."""
    return lines(
        """
        for cell in report.forecast.additions():  # collect examples of these, and train on them too
            print(cell)
        """
    )


def add_wrong_cells_code(framework: str) -> str:
    """Cells that are wrong, worst first."""
    return lines(
        """
        worst = report.forecast.table().filter("wrong").sort("error", descending=True)
        print(worst.head(10))  # collect examples of some of these, and train on them too
        """
    )


def misled_cells_code(framework: str) -> str:
    """Cells about which a rewarded shortcut is wrong."""
    return lines(
        """
        print(report.forecast.table().filter("misled"))  # collect examples of some of these, and train on them too
        """
    )


def flip_cells_code(framework: str) -> str:
    """The fewest labelled cells that turn the largest margin."""
    return lines(
        """
        advice = report.forecast.advice
        added = advice.corrective_cells  # collect examples of these, and train on them too
        for cell in added.cells if added else ():
            print(advice.table.describe(cell))
        """
    )


def single_factors_code(framework: str) -> str:
    """Rows that show one factor at a time."""
    rows = lines(
        """
        from recombine.tasks import single_factor_rows

        # render and encode turn positions (rows, factors) into targets and inputs; NaN: a factor is absent
        more_x, more_y = single_factor_rows(render, encode, levels)  # levels: how many each factor has
        """
    )
    if framework == "torch":
        use = """
            import torch

            x = torch.cat([x, torch.as_tensor(more_x, dtype=x.dtype)])
            y = torch.cat([y, torch.as_tensor(more_y, dtype=y.dtype)])
            """
    else:
        use = """
            import numpy as np

            x, y = np.concatenate([x, more_x]), np.concatenate([y, more_y])
            """
    return f"{rows}\n{lines(use)}"
