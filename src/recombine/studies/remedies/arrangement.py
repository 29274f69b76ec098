"""What a remedy makes of a world: the task, net and recipe of one arm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.prepared_task import prepared_task
from recombine.studies.remedies.score import score
from recombine.training import Penalty, Recipe


@dataclass(frozen=True)
class Arrangement:
    """The settings of an arm. The number of steps and the batch size are always those of the world's plain recipe."""

    task: Part
    net: Part
    recipe: Recipe

    @staticmethod
    def plain(world: FailingWorld) -> Arrangement:
        """The world without a remedy."""
        return Arrangement(Part(prepared_task, task=world.task), world.net, world.recipe)

    def with_task(self, **settings: Any) -> Arrangement:
        """The same with other training rows."""
        return replace(self, task=Part(prepared_task, **(dict(self.task.settings) | settings)))

    def with_net(self, net: Part) -> Arrangement:
        """The same with another net."""
        return replace(self, net=net)

    def with_recipe(self, **settings: Any) -> Arrangement:
        """The same with another recipe of the same length."""
        return replace(self, recipe=replace(self.recipe, **settings))

    def with_penalties(self, *penalties: Penalty) -> Arrangement:
        """The same with further penalties."""
        return self.with_recipe(penalties=(*self.recipe.penalties, *penalties))

    def trial(self, *, held_out: float = 0.0) -> Trial:
        """The trial of the arm; with `held_out`, for tuning, on seen cells only."""
        task = self.with_task(held_out=held_out).task if held_out else self.task
        return Trial(task, (Part(score),), (0,), self.net, self.recipe)
