"""Training: recipes and the compiled loop. Recipes can be read without JAX; `fit` starts it."""

from typing import TYPE_CHECKING, Any

from recombine.training.recipe import Noise, Optimiser, Penalty, Recipe, Schedule, adam, adamw, sgd

if TYPE_CHECKING:
    from recombine.training.descent import Descended, descend
    from recombine.training.loop import Fitted, fit
    from recombine.training.proximal import ProximalDescent, descend_proximal
    from recombine.training.row_span import fit_in_row_span
    from recombine.training.stages import TrainingStage, fit_in_stages

__all__ = [
    "Descended",
    "Fitted",
    "Noise",
    "Optimiser",
    "Penalty",
    "ProximalDescent",
    "Recipe",
    "Schedule",
    "TrainingStage",
    "adam",
    "adamw",
    "descend",
    "descend_proximal",
    "fit",
    "fit_in_row_span",
    "fit_in_stages",
    "sgd",
]


def __getattr__(name: str) -> Any:
    if name in {"fit", "Fitted"}:
        from recombine.training import loop

        return getattr(loop, name)
    if name in {"descend", "Descended"}:
        from recombine.training import descent

        return getattr(descent, name)
    if name in {"descend_proximal", "ProximalDescent"}:
        from recombine.training import proximal

        return getattr(proximal, name)
    if name == "fit_in_row_span":
        from recombine.training import row_span

        return row_span.fit_in_row_span
    if name in {"fit_in_stages", "TrainingStage"}:
        from recombine.training import stages

        return getattr(stages, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
