"""Training: recipes and the compiled loop. Recipes can be read without JAX; `fit` starts it."""

from typing import TYPE_CHECKING, Any

from recombine.training.recipe import Noise, Optimiser, Penalty, Recipe, Schedule, adam, adamw, sgd

if TYPE_CHECKING:
    from recombine.training.descent import Descended, descend
    from recombine.training.loop import Fitted, fit

__all__ = [
    "Descended",
    "Fitted",
    "Noise",
    "Optimiser",
    "Penalty",
    "Recipe",
    "Schedule",
    "adam",
    "adamw",
    "descend",
    "fit",
    "sgd",
]


def __getattr__(name: str) -> Any:
    if name in {"fit", "Fitted"}:
        from recombine.training import loop

        return getattr(loop, name)
    if name in {"descend", "Descended"}:
        from recombine.training import descent

        return getattr(descent, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
