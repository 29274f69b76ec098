"""Advice on a data split, before any training."""

from recombine.advice.additions.determining_cells import Additions, OrderAdvice, minimal_additions
from recombine.advice.advise import advise
from recombine.advice.forecasts.leak_forecast import LeakForecast
from recombine.advice.lint import LintFinding, lint
from recombine.advice.result import Advice, AdviceSettings

__all__ = [
    "Additions",
    "Advice",
    "AdviceSettings",
    "LeakForecast",
    "LintFinding",
    "OrderAdvice",
    "advise",
    "lint",
    "minimal_additions",
]
