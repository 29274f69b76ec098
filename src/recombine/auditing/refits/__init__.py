"""Simple models refitted to the seen cells: what the data allow."""

from recombine.auditing.refits.refit import Refit, Refits, refit_models, refit_title

__all__ = ["Refit", "Refits", "refit_models", "refit_title"]
