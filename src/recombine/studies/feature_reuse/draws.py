"""What a seed draws: an auxiliary and a main teacher, and the seed of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recombine.tasks import TeacherPair, diagonal_teachers, relu_teachers


@dataclass(frozen=True)
class Draw:
    """Teachers for every condition that a trial compares, with the same auxiliary task, and the seed of the rows."""

    pairs: dict[str, TeacherPair]
    seed: int


def diagonal_draw(*, conditions: Sequence[tuple[str, Any]], inputs: int = 1000, seed: int = 0) -> Draw:
    """Sparse linear teachers; every condition is a name with settings of `recombine.tasks.diagonal_teachers`."""
    pairs = {name: diagonal_teachers(inputs=inputs, seed=seed, **dict(how)) for name, how in conditions}
    return Draw(pairs, seed)


def relu_draw(*, conditions: Sequence[tuple[str, Any]], seed: int = 0) -> Draw:
    """Teachers of rectified units; every condition is a name with settings of `recombine.tasks.relu_teachers`."""
    return Draw({name: relu_teachers(seed=seed, **dict(how)) for name, how in conditions}, seed)


def nothing(*, seed: int = 0) -> int:
    """The task of trials that check identities: only the seed."""
    return seed
