"""The authors' models and recipes for their three data sets.

The official code overwrites its command line with these settings. A CPU cannot finish such a run: one run on sprites is
about 7e17 floating-point operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.errors import InputError
from recombine.nets import (
    attention_decoder,
    broadcast_decoder,
    slot_attention,
    slot_autoencoder,
    slot_transformer,
)
from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity, head_mean_weight
from recombine.training import Penalty, Recipe, adam
from recombine.training.losses import summed_squared_error
from recombine.training.recipe import Schedule

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
    """The settings that differ between the data sets.

    `shape` is that of an image, or tokens and features of the frozen DINO net for CLEVRTex. `error_weight` is the
    weight of the squared error if there is a penalty; without penalties it is 1. `held` says whether the regularised
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
    chosen = preset(dataset)
    features = len(chosen.shape) == 2
    idle = {"idle": chosen.channels} if features else {}
    encoders = {
        "transformer": Part(slot_transformer, channels=chosen.channels, **idle),
        "slot attention": Part(slot_attention, channels=chosen.channels, variant="authors", **idle),
    }
    decoders = {
        "attention": Part(
            attention_decoder,
            queries=chosen.queries,
            query_hidden=chosen.query_hidden,
            readout=chosen.readout,
            sampled=sampled,
        ),
        "broadcast": Part(broadcast_decoder, doublings=4),
    }
    if encoder not in encoders or decoder not in decoders:
        raise InputError("model", (encoder, decoder), f"{list(encoders)} and {list(decoders)}")
    return Part(
        slot_autoencoder,
        shape=chosen.shape,
        slots=chosen.slots,
        width=chosen.width,
        variational=variational,
        encoder=encoders[encoder],
        decoder=decoders[decoder],
    )


def authors_recipe(
    dataset: str, *, alpha: bool = True, beta: bool = True, iterations: int = ITERATIONS
) -> Recipe:
    """The recipe for the model of a data set, with one penalty, both or none.

    Without penalties the published code stops with an error; the learning rate here is the one that was intended.
    """
    chosen = preset(dataset)
    regularised = alpha or beta
    held = regularised and chosen.held
    schedule = Schedule(
        "exponential",
        warmup=chosen.warmup,
        factor=DECAY,
        every=ITERATIONS,
        start=HELD_UNTIL if held else chosen.warmup,
        drop=LATER / PEAK if held else 1.0,
    )
    penalties = []
    if beta:
        penalties.append(Penalty(Part(capacity), chosen.penalty))
    if alpha:
        weight = head_mean_weight(chosen.penalty)
        penalties.append(Penalty(Part(attention_interaction), weight, warmup=ALPHA_WARMUP))
    return Recipe(
        steps=iterations,
        batch=chosen.batch,
        optimiser=adam(PEAK),
        schedule=schedule,
        loss=Part(summed_squared_error, weight=chosen.error_weight if regularised else 1.0),
        penalties=tuple(penalties),
        clip_norm=chosen.clip_norm,
        record_every=10_000,
        record_rows=500,
    )


def authors_rate(dataset: str, step: int, *, regularised: bool = True) -> float:
    """The learning rate that the published code sets after update `step`, including its mistake at step 30,000.

    There it takes the wrong branch, the decay from the end of the warm-up, for a single update.
    """
    chosen = preset(dataset)
    if step <= chosen.warmup:
        return PEAK * step / chosen.warmup
    decayed = PEAK * DECAY ** ((step - chosen.warmup) / ITERATIONS)
    if not (regularised and chosen.held):
        return decayed
    if step < HELD_UNTIL:
        return PEAK
    return decayed if step == HELD_UNTIL else LATER * DECAY ** ((step - HELD_UNTIL) / ITERATIONS)


def authors_alpha(dataset: str, step: int) -> float:
    """The coefficient of the interaction penalty in update `step`, in the authors' units."""
    return float(preset(dataset).penalty * np.minimum(1.0, step / ALPHA_WARMUP))
