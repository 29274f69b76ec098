"""Advice on a data split, before any training."""

from recombine.advice.additions import Additions, OrderAdvice, minimal_additions
from recombine.advice.advice import Advice, AdviceSettings
from recombine.advice.advise import advise
from recombine.advice.lint import LintFinding, lint
from recombine.advice.memorisation_leak import LeakForecast

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
