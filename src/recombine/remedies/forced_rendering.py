"""Forced rendering: the render net and its penalties, ready to be trained."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.errors import InputError
from recombine.parts import Part
from recombine.training.recipe import Penalty


@dataclass(frozen=True)
class ForcedRendering:
    """A net, and the penalties to train it with: `fit(net, task, Recipe(..., penalties=penalties))`."""

    net: Part
    penalties: tuple[Penalty, ...]


def forced_rendering(
    levels: tuple[int, ...],
    *,
    size: tuple[int, int] | None = None,
    entropy: float = 0.1,
    flatness: float = 0.01,
    hidden: int = 2,
    normalised: bool = False,
) -> ForcedRendering:
    """Makes every factor draw its own image, pushed towards a stripe, before factors are combined.

    **Arguments:**

    - `levels`: the number of levels of every factor, two factors or more; the task's inputs must be the
        factors' one-hot codes in a row.
    - `size`: height and width of the targets; by default a square of `levels[0]` pixels.
    - `entropy`, `flatness`: the weights a and b of the two penalties (published: 0.1 and 0.01 at 32 levels).
        A penalty of weight 0 stays in the program, so that a sweep over the weights compiles once.
    - `hidden`, `normalised`: see `recombine.nets.render_net` and `recombine.remedies.canvas_penalties.flatness`.

    ```python
    >>> from recombine.remedies import forced_rendering
    >>> remedy = forced_rendering((32, 32))
    >>> remedy.net.name, [penalty.weight for penalty in remedy.penalties]
    ('recombine.nets:render_net', [0.1, 0.01])

    ```
    """
    for name, weight in (("entropy", entropy), ("flatness", flatness)):
        if not 0 <= weight < float("inf"):
            raise InputError(name, weight, "a weight of 0 or more")
    module = "recombine.remedies.canvas_penalties"
    spread = Part(f"{module}:flatness", normalised=True) if normalised else Part(f"{module}:flatness")
    penalties = (Penalty(Part(f"{module}:spectrum_entropy"), entropy), Penalty(spread, flatness))
    net = Part("recombine.nets:render_net", levels=levels, size=size, hidden=hidden)
    return ForcedRendering(net, penalties)
