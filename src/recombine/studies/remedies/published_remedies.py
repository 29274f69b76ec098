"""The published remedies: how each changes a world's task, net or recipe, and why it may not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from recombine.nets import additive_decoder, attention_decoder, mlp, slot_transformer
from recombine.parts import Part
from recombine.remedies import (
    attention_interaction,
    capacity,
    compositional_consistency,
    compositional_contrast,
    forced_rendering,
    l1,
    weighted_activity,
)
from recombine.studies.remedies.arrangement import Arrangement
from recombine.studies.remedies.changed_nets import additive_net, input_contrast, one_hot_squared_error
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.proposed_cells import proposed_cells
from recombine.studies.remedies.sum_of_nets import sum_of_nets
from recombine.training import Noise, Penalty

Changes = Literal["data", "net", "training"]
NO_LINKS = "slots are not read by a single linear map"
NO_SLOTS = "the net has no encoder and decoder of slots"


@dataclass(frozen=True)
class PublishedRemedy:
    """One row of the matrix.

    **Arguments:**

    - `apply`: from a world and a strength to the arm, or to the reason why there is none.
    - `strengths`: the grid that tuning chooses from, weakest first; a single number if there is nothing to choose.
    - `meaning`: what a strength is.
    - `paper`: the study that proposes it; `changes`: what it acts on.
    """

    name: str
    apply: Callable[[FailingWorld, float], Arrangement | str]
    _: KW_ONLY
    strengths: tuple[float, ...] = (1.0,)
    meaning: str = ""
    paper: str
    changes: Changes


def _none(world: FailingWorld, strength: float) -> Arrangement | str:
    return Arrangement.plain(world)


def _forced_rendering(world: FailingWorld, strength: float) -> Arrangement | str:
    if isinstance(world.rendering, str):
        return world.rendering
    # The published ratio of the two penalties is 10; their sums grow with the number of levels.
    made = forced_rendering(
        world.rendering, entropy=strength * world.loss_size, flatness=0.1 * strength * world.loss_size
    )
    return Arrangement.plain(world).with_net(made.net).with_penalties(*made.penalties)


def _single_factors(world: FailingWorld, strength: float) -> Arrangement | str:
    if isinstance(world.alone, str):
        return world.alone
    return Arrangement.plain(world).with_task(alone=world.alone, repeats=round(strength))


def _weighted_activity(world: FailingWorld, strength: float) -> Arrangement | str:
    if world.autoencoder:
        return NO_LINKS
    penalty = Penalty(Part(weighted_activity), strength * world.loss_size)
    return Arrangement.plain(world).with_penalties(penalty)


def _activity_noise(world: FailingWorld, strength: float) -> Arrangement | str:
    return Arrangement.plain(world).with_recipe(noise=(Noise(world.noisy, strength, exponent=1.0),))


def _l1(world: FailingWorld, strength: float) -> Arrangement | str:
    return Arrangement.plain(world).with_penalties(Penalty(Part(l1), strength * world.loss_size))


def _attention(world: FailingWorld, strength: float) -> Arrangement | str:
    if not world.autoencoder:
        return NO_SLOTS
    steps = world.recipe.steps or 1
    net = world.with_net(
        variational=True,
        encoder=Part(slot_transformer, channels=16, depth=1),
        decoder=Part(attention_decoder, inner=48, queries=32, heads=4, depth=1),
    )
    weight = strength * world.loss_size
    alpha = Penalty(Part(attention_interaction), weight, warmup=max(1, steps // 10))
    return Arrangement.plain(world).with_net(net).with_penalties(Penalty(Part(capacity), weight / 100), alpha)


def _contrast(world: FailingWorld, strength: float) -> Arrangement | str:
    weight = strength * world.loss_size
    if world.autoencoder:
        return Arrangement.plain(world).with_penalties(Penalty(Part(compositional_contrast, rows=16), weight))
    if isinstance(world.blocks, str):
        return world.blocks
    if len(set(world.blocks)) > 1:
        return "factors have inputs of different sizes"
    if not _is_mlp(world):
        return "it needs forward derivatives, which our convolutions do not have"
    return Arrangement.plain(world).with_penalties(Penalty(Part(input_contrast, blocks=world.blocks), weight))


def _is_mlp(world: FailingWorld) -> bool:
    return world.net == Part(mlp, **dict(world.net.settings))


def _consistency(world: FailingWorld, strength: float) -> Arrangement | str:
    if not world.autoencoder:
        return NO_SLOTS
    weight = strength * world.loss_size
    steps = world.recipe.steps or 1
    penalty = Penalty(Part(compositional_consistency), weight, random=True, warmup=max(1, steps // 2))
    return Arrangement.plain(world).with_penalties(penalty)


def _additive(world: FailingWorld, strength: float) -> Arrangement | str:
    if world.autoencoder:
        hidden = world.net["decoder"]["hidden"]
        return Arrangement.plain(world).with_net(
            world.with_net(decoder=Part(additive_decoder, hidden=hidden, shared=False))
        )
    if isinstance(world.blocks, str):
        return world.blocks
    if _is_mlp(world):
        net = Part(additive_net, blocks=world.blocks, **dict(world.net.settings))
    else:
        net = Part(sum_of_nets, net=world.net, blocks=world.blocks)
    return Arrangement.plain(world).with_net(net)


def _rescaling(world: FailingWorld, strength: float) -> Arrangement | str:
    if not world.pretrained:
        return "the net is not pretrained"
    return Arrangement.plain(world).with_net(world.with_net(factor=strength))


def _small_scale(world: FailingWorld, strength: float) -> Arrangement | str:
    plain = Arrangement.plain(world)
    if world.pretrained:
        return plain.with_net(world.with_net(initial_scale=strength))
    return plain.with_recipe(initial_scale=strength * world.recipe.initial_scale)


def _squared_error(world: FailingWorld, strength: float) -> Arrangement | str:
    if world.outputs != "labels":
        return "the loss is a squared error already"
    return Arrangement.plain(world).with_recipe(loss=Part(one_hot_squared_error))


def _additions(world: FailingWorld, strength: float) -> Arrangement | str:
    task = world.task(seed=0)
    if len(task.split.space.shape) < 2:
        return "there are rows, but no combinations of factors"
    if not proposed_cells(task).any():
        return "advise proposes no cells, or most of the unseen ones"
    return Arrangement.plain(world).with_task(additions=True)


WEIGHT = "weight / loss of the best constant"
NONE = PublishedRemedy("none", _none, paper="", changes="training")
REMEDIES = (
    NONE,
    PublishedRemedy(
        "forced rendering",
        _forced_rendering,
        strengths=(0.1, 1.0, 10.0),
        meaning=WEIGHT + " (entropy; flatness a tenth of it)",
        paper="forced-rendering",
        changes="net",
    ),
    PublishedRemedy(
        "single factors",
        _single_factors,
        strengths=(1.0, 4.0),
        meaning="how often each single-factor row is in the training set",
        paper="forced-rendering",
        changes="data",
    ),
    PublishedRemedy(
        "weighted activity",
        _weighted_activity,
        strengths=(3e-4, 3e-3, 3e-2),
        meaning=WEIGHT,
        paper="poisson-modularity",
        changes="training",
    ),
    PublishedRemedy(
        "activity noise",
        _activity_noise,
        strengths=(0.03, 0.1, 0.3),
        meaning="noise level (Poisson-like)",
        paper="poisson-modularity",
        changes="training",
    ),
    PublishedRemedy(
        "L1",
        _l1,
        strengths=(1e-5, 1e-4, 1e-3),
        meaning=WEIGHT,
        paper="poisson-modularity",
        changes="training",
    ),
    PublishedRemedy(
        "attention + capacity",
        _attention,
        strengths=(0.01, 0.1, 1.0),
        meaning=WEIGHT + " (interaction; capacity a hundredth of it)",
        paper="interaction-asymmetry",
        changes="net",
    ),
    PublishedRemedy(
        "compositional contrast",
        _contrast,
        strengths=(1e-3, 1e-2, 1e-1),
        meaning=WEIGHT,
        paper="interaction-asymmetry",
        changes="training",
    ),
    PublishedRemedy(
        "consistency",
        _consistency,
        strengths=(0.01, 0.1, 1.0),
        meaning=WEIGHT,
        paper="interaction-asymmetry",
        changes="training",
    ),
    PublishedRemedy("additive decoder", _additive, paper="interaction-asymmetry", changes="net"),
    PublishedRemedy(
        "rescaling",
        _rescaling,
        strengths=(0.3, 0.1, 0.03),
        meaning="factor on all pretrained weights",
        paper="feature-reuse",
        changes="training",
    ),
    PublishedRemedy(
        "small initial scale",
        _small_scale,
        strengths=(0.6, 0.3, 0.1),
        meaning="factor on all initial weights",
        paper="kernel-theory",
        changes="training",
    ),
    PublishedRemedy("squared error", _squared_error, paper="kernel-theory", changes="training"),
    PublishedRemedy("fewest additions", _additions, paper="kernel-theory", changes="data"),
)
"""In the order of the matrix's rows."""
