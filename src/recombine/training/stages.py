"""Training in stages: pretrain, change the net, finetune."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from recombine.errors import InputError
from recombine.tasks import Task
from recombine.training.loop import Fitted, fit
from recombine.training.recipe import Recipe


@dataclass(frozen=True)
class TrainingStage:
    """One stage of training.

    **Arguments:**

    - `task`: what to learn; or one task per seed.
    - `recipe`: how. Its `initial_scale` applies to the first stage only.
    - `change`: what happens to each net before this stage, called as `change(net, key=key)`, such as
        `Part(rescale, factor=0.1, readout="reset")`.
    """

    task: Task | Sequence[Task]
    recipe: Recipe
    change: Callable[..., Any] | None = None


def fit_in_stages(
    net_fn: Callable[..., Any],
    stages: Sequence[TrainingStage],
    seeds: Sequence[int] = (0,),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Fitted, ...]:
    """Trains one net per seed through all stages; every stage starts where the one before it ended.

    **Arguments:**

    - `net_fn`, `seeds`: as for `fit`.
    - `progress`: called with the number of stages done and their number.

    **Returns:** what `fit` returns, for every stage.

    ```python
    >>> from recombine import Part, Recipe
    >>> from recombine.nets import mlp
    >>> from recombine.remedies import rescale
    >>> from recombine.tasks import relu_teachers, teacher_task
    >>> from recombine.training import TrainingStage, adam, fit_in_stages
    >>> old, new = (teacher_task(teacher, train=64, test=100) for teacher in relu_teachers())
    >>> recipe = Recipe(steps=300, optimiser=adam(1e-2))
    >>> shrink = Part(rescale, factor=0.5, readout="reset")
    >>> net = Part(mlp, inputs=15, width=32, depth=1, outputs=1)
    >>> pretrained, finetuned = fit_in_stages(net, [TrainingStage(old, recipe), TrainingStage(new, recipe, shrink)])
    >>> bool(finetuned.curves["train"][0, -1] < finetuned.curves["train"][0, 0])
    True

    ```
    """
    if not stages:
        raise InputError("stages", stages, "at least one stage")
    fitted: list[Fitted] = []
    for number, stage in enumerate(stages):
        start = net_fn if not fitted else _Continued(fitted[-1], stage.change, number)
        if not fitted and stage.change is not None:
            raise InputError("stages", "a change before the first stage", "changes between stages")
        recipe = stage.recipe
        if fitted and recipe.initial_scale != 1:
            raise InputError("initial_scale", recipe.initial_scale, "1 after the first stage; use `change`")
        fitted.append(fit(start, stage.task, recipe, seeds))
        if progress is not None:
            progress(number + 1, len(stages))
    return tuple(fitted)


class _Continued:
    """Gives the nets of the stage before, one seed after another, as `fit` asks for them."""

    def __init__(self, before: Fitted, change: Callable[..., Any] | None, number: int) -> None:
        self.before, self.change, self.number, self.asked = before, change, number, 0

    def __call__(self, *, key: Any) -> Any:
        net = self.before.net(self.asked)
        self.asked += 1
        return net if self.change is None else self.change(net, key=jax.random.fold_in(key, self.number))
