"""Recipes: how a net is trained, as plain values.

Nothing here needs JAX, so that trials can be listed, hashed and looked up without starting it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recombine.errors import InputError
from recombine.parts import Part

SQUARED_ERROR = Part("recombine.training.losses:squared_error")


@dataclass(frozen=True)
class Optimiser:
    """One of the usual update rules; see `sgd`, `adam` and `adamw`.

    `weight_decay` is added to the gradient for `sgd` and `adam` (PyTorch's `weight_decay`), and shrinks the
    weights directly, scaled by the learning rate, for `adamw`.
    """

    kind: Literal["sgd", "adam", "adamw"]
    learning_rate: float
    weight_decay: float = 0.0
    momentum: float = 0.0
    b1: float = 0.9
    b2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        if self.kind not in {"sgd", "adam", "adamw"}:
            raise InputError("optimiser", self.kind, "'sgd', 'adam' or 'adamw'")
        for name in ("learning_rate", "weight_decay", "momentum"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(name, getattr(self, name), "a finite number, 0 or more")


def sgd(learning_rate: float, *, momentum: float = 0.0, weight_decay: float = 0.0) -> Optimiser:
    """Plain gradient descent, optionally with heavy-ball momentum.

    ```python
    >>> from recombine.training import sgd
    >>> sgd(0.1, momentum=0.9).momentum
    0.9

    ```
    """
    return Optimiser("sgd", learning_rate, weight_decay, momentum)


def adam(learning_rate: float = 1e-3, *, weight_decay: float = 0.0) -> Optimiser:
    """Adam (Kingma & Ba 2015) with PyTorch's defaults.

    ```python
    >>> from recombine.training import adam
    >>> adam().learning_rate, adam().weight_decay
    (0.001, 0.0)

    ```
    """
    return Optimiser("adam", learning_rate, weight_decay)


def adamw(learning_rate: float = 1e-3, *, weight_decay: float = 0.01) -> Optimiser:
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019), PyTorch's defaults.

    ```python
    >>> from recombine.training import adamw
    >>> adamw().weight_decay
    0.01

    ```
    """
    return Optimiser("adamw", learning_rate, weight_decay)


@dataclass(frozen=True)
class Schedule:
    """A factor on the learning rate, after a linear warm-up over `warmup` steps.

    | kind | factor at step t of T |
    |---|---|
    | `constant` | 1 |
    | `cosine` | (1 + cos(πt/T)) / 2 |
    | `exponential` | 1 before step `start`, then `drop` · `factor` ** ((t - `start`) / `every`) |
    | `drops` | `factor` ** floor(t / `every`) |
    | `plateau` | times `factor` when the monitored loss has not improved (by 1e-4, relative) for more than |
    |  | `every` records, never below `minimum` / learning rate |

    The plateau watches the validation loss if there is one, else the training loss.
    """

    kind: Literal["constant", "cosine", "exponential", "drops", "plateau"] = "constant"
    warmup: int = 0
    factor: float = 1.0
    every: int = 1
    minimum: float = 0.0
    start: int = 0
    drop: float = 1.0

    def __post_init__(self) -> None:
        kinds = {"constant", "cosine", "exponential", "drops", "plateau"}
        if self.kind not in kinds:
            raise InputError("schedule", self.kind, f"one of {', '.join(sorted(kinds))}")
        if self.every < 1 or self.warmup < 0 or self.start < 0:
            numbers = (self.every, self.warmup, self.start)
            raise InputError("schedule", numbers, "every >= 1, warmup >= 0 and start >= 0")
        if self.kind != "exponential" and (self.start or self.drop != 1):
            raise InputError("schedule", self.kind, "'exponential' where start or drop is given")


@dataclass(frozen=True)
class Penalty:
    """`weight` times `of(net, trace, batch)`, added to the loss at every step.

    `of` is a function or a `Part`: it gets the net, the dictionary of all stage outputs and the pair
    `(inputs, targets)` of the batch, and returns a scalar. With `random` it also gets a fresh `key`. The weight
    grows linearly from 0 over the first `warmup` steps.
    """

    of: Callable[..., Any] | Part
    weight: float
    random: bool = False
    warmup: int = 0

    def __post_init__(self) -> None:
        if self.warmup < 0:
            raise InputError("penalty warmup", self.warmup, "a number of steps, 0 or more")


@dataclass(frozen=True)
class Noise:
    """Activity noise in training: a stage's output `a` becomes `a + level |a|^(exponent/2) ξ`, ξ ~ N(0, 1).

    `stages` are stage names; the exponent is 0 for additive, 1 for Poisson-like and 2 for multiplicative
    noise (Qian et al. 2025). With `evaluation`, recorded losses on seen, unseen and validation rows have the
    noise, too.
    """

    stages: tuple[str, ...]
    level: float
    exponent: float = 1.0
    evaluation: bool = False

    def __post_init__(self) -> None:
        for name in ("level", "exponent"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"noise {name}", getattr(self, name), "a finite number, 0 or more")


@dataclass(frozen=True)
class Recipe:
    """How a net is trained.

    **Arguments:**

    - `epochs` or `steps`: the length, one of the two. With 0 steps nets are drawn but not trained.
    - `batch`: examples per step; `None` for all at once.
    - `sampling`: `"shuffled"` goes through a fresh permutation of the training rows in every epoch (the last
        batch of an epoch may be short), `"replacement"` draws every batch independently, `"ordered"` keeps the order.
    - `loss`: `(outputs, targets) -> (batch,)`, one number per example; see `recombine.training.losses`.
    - `penalties`, `noise`: see `Penalty` and `Noise`.
    - `clip_norm`: gradients with a larger global norm are scaled down to it.
    - `initial_scale`: multiplies every trained parameter before the first step (small: rich, large: lazy).
    - `validation`: fraction of the training rows set aside, drawn by the seed.
    - `record_every`: steps between two records of the loss on training, seen and unseen rows, or `"epoch"`
        (a plateau counts records). By default about 20 records are made.
    - `record_rows`: losses are recorded on at most this many seen and unseen rows each, evenly spaced; default: all.
    - `stop_below`: end when the training loss, averaged between two records, is below this.
    - `diverge_above`: a training loss above this, or one that is not finite, ends the run as `diverged`.

    ```python
    >>> from recombine.training import Recipe, adamw
    >>> Recipe(epochs=50, optimiser=adamw(1e-3)).steps_for(2000)
    3150

    ```
    """

    epochs: int | None = None
    steps: int | None = None
    batch: int | None = 32
    sampling: Literal["shuffled", "replacement", "ordered"] = "shuffled"
    optimiser: Optimiser = Optimiser("adamw", 1e-3, 0.01)
    schedule: Schedule = Schedule()
    loss: Callable[..., Any] | Part = SQUARED_ERROR
    penalties: tuple[Penalty, ...] = ()
    noise: tuple[Noise, ...] = ()
    clip_norm: float | None = None
    initial_scale: float = 1.0
    validation: float = 0.0
    record_every: int | Literal["epoch"] | None = None
    record_rows: int | None = None
    stop_below: float | None = None
    diverge_above: float = 1e6

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.steps is None):
            raise InputError(
                "recipe", {"epochs": self.epochs, "steps": self.steps}, "one of epochs and steps"
            )
        for name in ("epochs", "steps", "batch", "record_every", "record_rows"):
            value = getattr(self, name)
            if name == "record_every" and isinstance(value, str):
                if value != "epoch":
                    raise InputError(name, value, "a positive whole number or 'epoch'")
            elif value is not None and value < (minimum := 0 if name == "steps" else 1):
                raise InputError(name, value, f"a whole number, at least {minimum}")
        if self.sampling not in {"shuffled", "replacement", "ordered"}:
            raise InputError("sampling", self.sampling, "'shuffled', 'replacement' or 'ordered'")
        if not 0 <= self.validation < 1:
            raise InputError("validation", self.validation, "a fraction from 0 to below 1")

    def batch_for(self, rows: int) -> int:
        """The batch size with `rows` training rows."""
        return rows if self.batch is None else min(self.batch, rows)

    def steps_for(self, rows: int) -> int:
        """The number of steps with `rows` training rows."""
        if self.steps is not None:
            return self.steps
        assert self.epochs is not None
        return self.epochs * self.steps_per_epoch(rows)

    def steps_per_epoch(self, rows: int) -> int:
        """The number of steps in one pass over `rows` training rows."""
        return -(-rows // self.batch_for(rows))

    def record_every_for(self, rows: int) -> int:
        """Steps between two records: `record_every`, or the divisor of the length closest to a twentieth of it."""
        steps = self.steps_for(rows)
        if not steps:
            return 1
        if self.record_every is not None:
            every = self.steps_per_epoch(rows) if self.record_every == "epoch" else self.record_every
            return min(every, steps)
        divisors = [d for d in range(1, steps + 1) if steps % d == 0 and steps / 100 <= d <= steps / 10]
        return min(divisors, key=lambda d: abs(d - steps / 20), default=max(1, steps // 20))

    def numbers(self) -> dict[str, Any]:
        """The numbers that a compiled program takes as arguments, so that a sweep over them compiles once."""
        taken: dict[str, Any] = {
            name: getattr(self.optimiser, name)
            for name in ("learning_rate", "weight_decay", "momentum", "b1", "b2", "epsilon")
        }
        schedule = self.schedule
        taken |= {"warmup": float(schedule.warmup), "factor": schedule.factor, "every": float(schedule.every)}
        taken |= {"start": float(schedule.start), "drop": schedule.drop}
        taken["penalties"] = tuple((float(p.weight), float(max(1, p.warmup))) for p in self.penalties)
        taken["noise"] = tuple(float(noise.level) for noise in self.noise)
        taken["clip_norm"] = 0.0 if self.clip_norm is None else self.clip_norm
        return taken

    def structure(self) -> Recipe:
        """The recipe with all `numbers` replaced by constants: what a compiled program depends on."""
        zero_decay = self.optimiser.weight_decay == 0
        return replace(
            self,
            epochs=None,
            steps=1,
            optimiser=Optimiser(
                self.optimiser.kind, 0.0, 0.0 if zero_decay else 1.0, float(self.optimiser.momentum > 0)
            ),
            schedule=Schedule(self.schedule.kind, warmup=int(self.schedule.warmup > 0)),
            penalties=tuple(replace(p, weight=0.0, warmup=int(p.warmup > 0)) for p in self.penalties),
            noise=tuple(replace(noise, level=0.0) for noise in self.noise),
            clip_norm=None if self.clip_norm is None else 0.0,
            initial_scale=1.0,
            record_every=None,
            record_rows=None,
            stop_below=None,
            diverge_above=0.0,
        )

    def changed(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
