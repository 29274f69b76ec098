"""What the split alone predicted, compared with what happened: a sentence, tables and a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.thresholds import MAX_LISTED_CELLS, MAX_MAP_LEVELS, RETENTION_AT_RISK
from recombine.report import (
    Badge,
    Block,
    Column,
    Details,
    Picture,
    Row,
    Table,
    count,
    fixed,
    number,
    percent,
    status_grid,
)

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

OUTCOMES = (
    "seen in training",
    "unseen, right",
    "unseen, wrong as the split predicts",
    "unseen, wrong unexpectedly",
)
FORECASTS = ("seen in training", "unseen, not at risk", "unseen, at risk")


def forecast_sentence(forecast: SplitForecast) -> str:
    """The forecast from the split, and what was observed."""
    known, advice = forecast.known, forecast.advice
    at_risk = f"{_none(int(forecast.at_risk.sum()))} of {count(len(forecast.cells))} unseen cells are at risk"
    expected = []
    if len(forecast.retention) and not (advice.labels is not None and advice.labels.classes):
        kept = fixed(float(np.median(forecast.retention)), 2)
        expected.append(f"predictions {kept} times their size (at risk below {RETENTION_AT_RISK:g})")
    if forecast.misled.any():
        rule = next(one for one in advice.shortcuts if one.misleads)
        names = " and ".join(advice.table.space.names[axis] for axis in rule.factors)
        expected.append(f"a shortcut by {names} that is wrong about {count(int(forecast.misled.sum()))}")
    text = f"{at_risk}; expect {' and '.join(expected)}" if expected else at_risk
    if known.any():
        failed = forecast.wrong & known
        if forecast.at_risk.any():
            text += f"; the model fails on {_none(int((failed & forecast.at_risk).sum()))} of these"
            if not forecast.at_risk.all():
                text += f" and on {_none(int((failed & ~forecast.at_risk).sum()))} of the others"
        else:
            text += f"; the model fails on {_none(int(failed.sum()))} of them"
    return f"{text} ({_order_text(forecast)})"


def _order_text(forecast: SplitForecast) -> str:
    what = "single factors" if forecast.order == 1 else "pairs"
    if forecast.order is None:
        return "seen targets are not sums of effects of few factors"
    if forecast.supposed:
        return f"assuming that targets are sums of effects of {what}; there are no targets to tell"
    return f"seen targets are sums of effects of {what}"


def _none(number: int) -> str:
    return count(number) if number else "none"


def forecast_section(report: AuditReport) -> list[Block]:
    """The forecast in words, how often it was right, a map of the outcomes, and single cells."""
    forecast = report.forecast
    if isinstance(forecast, str):
        return [forecast]
    text = forecast_sentence(forecast)
    blocks: list[Block] = [
        f"{text[0].upper()}{text[1:]}. The forecast knows which combinations training shows, and their targets, but "
        "not the model: a model that sees images of the factors, or was trained differently, can do better or worse."
    ]
    known = forecast.known
    if known.any():
        rows = [
            Row(
                [
                    label,
                    *(count(int((risk & (forecast.wrong == wrong))[known].sum())) for wrong in (False, True)),
                ]
            )
            for label, risk in (("at risk", forecast.at_risk), ("not at risk", ~forecast.at_risk))
        ]
        columns = [
            Column("forecast from the split"),
            Column("right", "right", "observed"),
            Column("wrong", "right", "observed"),
        ]
        blocks.append(Table(columns, rows))
    picture = _forecast_figure(report)
    if picture is not None:
        blocks.append(picture)
    return [*blocks, Details("Cell by cell", [_forecast_table(report, forecast)])]


def _forecast_table(report: AuditReport, forecast: SplitForecast) -> Table:
    order = np.lexsort((forecast.retention, -np.nan_to_num(forecast.error, nan=-1.0)))[:MAX_LISTED_CELLS]
    rows = []
    for i in order:
        levels = forecast.advice.table.describe(forecast.advice.targets[i]).values()
        observed = Badge("wrong", "bad") if forecast.wrong[i] else Badge("right", "good")
        entries = [
            *(str(level) for level in levels),
            "yes" if forecast.determined[i] else "no",
            fixed(float(forecast.retention[i]), 2),
            "yes" if forecast.misled[i] else "no",
            number(float(forecast.error[i])),
            observed if forecast.known[i] else Badge("–", "open"),
        ]
        rows.append(Row(entries))
    columns = [
        *(Column(name) for name in report.table.space.names),
        Column("determined"),
        Column("expected to remain", "right"),
        Column("misled by a shortcut"),
        Column("error", "right"),
        Column("observed"),
    ]
    caption = (
        f"The {len(order)} unseen cells with the largest errors of {count(len(forecast.cells))}. A cell is at risk if "
        f"it is not determined, if less than {percent(RETENTION_AT_RISK)} of its prediction's size is expected to "
        "remain, or if a shortcut is wrong about it."
    )
    return Table(columns, rows, caption)


def _forecast_figure(report: AuditReport) -> Picture | None:
    """For two factors: which cells are right, wrong as expected, and wrong unexpectedly."""
    forecast, space = report.forecast, report.table.space
    if not isinstance(forecast, SplitForecast) or len(space.shape) != 2 or max(space.shape) > MAX_MAP_LEVELS:
        return None
    status = np.full(space.shape, -1)
    status[tuple(forecast.advice.train.T)] = 0
    known = forecast.known
    if known.any():
        outcome = np.where(~forecast.wrong, 1, np.where(forecast.at_risk, 2, 3))
        status[tuple(forecast.advice.targets[known].T)] = outcome[known]
    else:
        status[tuple(forecast.advice.targets.T)] = np.where(forecast.at_risk, 2, 1)
    figure = status_grid(
        status,
        OUTCOMES if known.any() else FORECASTS,
        factors=space.names,
        levels=[[str(level) for level in factor.levels] for factor in space.factors],
        title=_forecast_title(forecast),
    )
    return Picture(
        "forecast",
        figure,
        "Every square is one combination. A cell is at risk if training does not determine it, if kernel theory "
        f"expects its prediction to shrink below {percent(RETENTION_AT_RISK)} of its size, or if a shortcut that "
        "training rewards is wrong about it.",
        "Grid of cells by forecast and outcome",
    )


def _forecast_title(forecast: SplitForecast) -> str:
    known = forecast.known
    risky, wrong = forecast.at_risk[known], forecast.wrong[known]
    cells = count(len(forecast.cells))
    if not known.any():
        return f"{count(int(forecast.at_risk.sum()))} of {cells} unseen cells are at risk; there are no predictions"
    if not wrong.any():
        return "No unseen cell is wrong"
    if risky.all():
        return f"The split puts all {cells} unseen cells at risk; {count(int(wrong.sum()))} are wrong"
    predicted = percent(float((wrong & risky).sum() / wrong.sum()))
    return f"The split alone predicts {predicted} of the {count(int(wrong.sum()))} wrong cells"
