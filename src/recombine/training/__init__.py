"""Training: recipes and the compiled loop. Recipes can be read without JAX; `fit` starts it."""

from typing import TYPE_CHECKING, Any

from recombine.training.recipe import Noise, Optimiser, Penalty, Recipe, Schedule, adam, adamw, sgd

if TYPE_CHECKING:
    from recombine.training.loop import Fitted, fit

__all__ = ["Fitted", "Noise", "Optimiser", "Penalty", "Recipe", "Schedule", "adam", "adamw", "fit", "sgd"]


def __getattr__(name: str) -> Any:
    if name in {"fit", "Fitted"}:
        from recombine.training import loop

        return getattr(loop, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
