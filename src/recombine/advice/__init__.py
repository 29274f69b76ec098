"""Advice on a data split, before any training."""

from recombine.advice.additions import Additions, minimal_additions
from recombine.advice.advise import advise
from recombine.advice.leak import Leak, retention
from recombine.advice.lint import Finding, lint
from recombine.advice.result import Advice, OrderAdvice
from recombine.advice.table import Observations, observe

__all__ = [
    "Additions",
    "Advice",
    "Finding",
    "Leak",
    "Observations",
    "OrderAdvice",
    "advise",
    "lint",
    "minimal_additions",
    "observe",
    "retention",
]
