"""The authors' models and ways of training, for their three data sets.

The official code overwrites its command line with these. A CPU can start them and not finish them: a run on sprites is
about 7e17 floating-point operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.errors import InputError
from recombine.fit import Penalty, Recipe, adam
from recombine.fit.losses import summed_squared_error
from recombine.fit.recipe import Schedule
from recombine.nets import (
    attention_decoder,
    broadcast_decoder,
    slot_attention,
    slot_autoencoder,
    slot_transformer,
)
from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity, head_mean_weight

Encoder = Literal["transformer", "slot attention"]
Decoder = Literal["attention", "broadcast"]

ITERATIONS = 500_000
PEAK = 5e-4
LATER = 1e-4
HELD_UNTIL = 30_000
ALPHA_WARMUP = 25_000
DECAY = 0.1
"""Over as many steps as there are iterations."""


@dataclass(frozen=True)
class Preset:
    """What differs between the data sets.

    `shape` is that of a picture, or tokens and features of the frozen DINO net for CLEVRTex. `error_weight` is the
    weight of the squared error where a penalty is on; without penalties it is 1. `held` says whether the regularised
    recipe holds its peak rate until step 30,000 and then drops to a fifth.
    """

    shape: tuple[int, ...]
    slots: int
    width: int
    channels: int
    batch: int
    error_weight: float
    penalty: float
    warmup: int
    held: bool
    queries: int = 180
    query_hidden: int = 360
    readout: tuple[int, ...] = (180, 180)
    clip_norm: float | None = None


PRESETS = {
    "sprites": Preset((64, 64, 3), 5, 32, 32, 64, 5.0, 0.05, 10_000, True),
    "clevr6": Preset((128, 128, 3), 7, 64, 64, 32, 1.0, 0.05, 2_500, True),
    "clevrtex": Preset((256, 768), 11, 64, 64, 32, 0.1, 0.1, 10_000, False, 360, 1440, (3072,), 1.0),
}


def preset(dataset: str) -> Preset:
    """The preset of a data set."""
    if dataset not in PRESETS:
        raise InputError("dataset", dataset, f"one of {', '.join(PRESETS)}")
    return PRESETS[dataset]


def authors_net(
    dataset: str,
    *,
    encoder: Encoder = "transformer",
    decoder: Decoder = "attention",
    variational: bool = True,
    sampled: int | None = None,
) -> Part:
    """The model of a data set.

    **Arguments:**

    - `sampled`: pixels decoded per step, by default all as published.

    ```python
    >>> import equinox as eqx, jax
    >>> from recombine.nets import parameter_count
    >>> from recombine.studies.interaction_asymmetry.presets import authors_net
    >>> parameter_count(eqx.filter_eval_shape(authors_net("clevrtex"), key=jax.random.key(0)))
    10192788

    ```
    """
    found = preset(dataset)
    features = len(found.shape) == 2
    idle = {"idle": found.channels} if features else {}
    encoders = {
        "transformer": Part(slot_transformer, channels=found.channels, **idle),
        "slot attention": Part(slot_attention, channels=found.channels, variant="authors", **idle),
    }
    decoders = {
        "attention": Part(
            attention_decoder,
            queries=found.queries,
            query_hidden=found.query_hidden,
            readout=found.readout,
            sampled=sampled,
        ),
        "broadcast": Part(broadcast_decoder, doublings=4),
    }
    if encoder not in encoders or decoder not in decoders:
        raise InputError("model", (encoder, decoder), f"{list(encoders)} and {list(decoders)}")
    return Part(
        slot_autoencoder,
        shape=found.shape,
        slots=found.slots,
        width=found.width,
        variational=variational,
        encoder=encoders[encoder],
        decoder=decoders[decoder],
    )


def authors_recipe(
    dataset: str, *, alpha: bool = True, beta: bool = True, iterations: int = ITERATIONS
) -> Recipe:
    """How the model of a data set is trained, with one penalty, both or none.

    Without penalties the published code stops with an error; the rate is then what it was meant to be.
    """
    found = preset(dataset)
    regularised = alpha or beta
    held = regularised and found.held
    schedule = Schedule(
        "exponential",
        warmup=found.warmup,
        factor=DECAY,
        every=ITERATIONS,
        start=HELD_UNTIL if held else found.warmup,
        drop=LATER / PEAK if held else 1.0,
    )
    penalties = []
    if beta:
        penalties.append(Penalty(Part(capacity), found.penalty))
    if alpha:
        weight = head_mean_weight(found.penalty)
        penalties.append(Penalty(Part(attention_interaction), weight, warmup=ALPHA_WARMUP))
    return Recipe(
        steps=iterations,
        batch=found.batch,
        optimiser=adam(PEAK),
        schedule=schedule,
        loss=Part(summed_squared_error, weight=found.error_weight if regularised else 1.0),
        penalties=tuple(penalties),
        clip_norm=found.clip_norm,
        record_every=10_000,
        record_rows=500,
    )


def authors_rate(dataset: str, step: int, *, regularised: bool = True) -> float:
    """The learning rate that the published code has set after update `step`, with its slip at step 30,000.

    There it takes the other branch, the decay from the end of the warm-up, for a single update.
    """
    found = preset(dataset)
    if step <= found.warmup:
        return PEAK * step / found.warmup
    decayed = PEAK * DECAY ** ((step - found.warmup) / ITERATIONS)
    if not (regularised and found.held):
        return decayed
    if step < HELD_UNTIL:
        return PEAK
    return decayed if step == HELD_UNTIL else LATER * DECAY ** ((step - HELD_UNTIL) / ITERATIONS)


def authors_alpha(dataset: str, step: int) -> float:
    """The coefficient of the interaction penalty in update `step`, in the authors' units."""
    return float(preset(dataset).penalty * np.minimum(1.0, step / ALPHA_WARMUP))
