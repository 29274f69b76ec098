"""Exact statements about the authors' models, metrics, data and schedules, measured by their largest violation."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from recombine.metrics.slots import slot_scores
from recombine.nets import attention_decoder, parameter_count
from recombine.nets.slots.slot_decoders import AttentionDecoder
from recombine.remedies import attention_interaction_of
from recombine.studies.interaction_asymmetry import published_models as published
from recombine.studies.interaction_asymmetry.presets import (
    PRESETS,
    authors_alpha,
    authors_net,
    authors_rate,
    authors_recipe,
)
from recombine.studies.interaction_asymmetry.slot_sensitivity import slot_sensitivity
from recombine.studies.interaction_asymmetry.task_seed import generator
from recombine.tasks import PUBLISHED_SPRITES, Task, sprites
from recombine.training.optimisers import learning_rate

Values = dict[str, Any]
HEADS = 12


def attention_values(task: Task, *, images: int = 2) -> Values:
    """The interaction penalty in the authors' units: for known attention, and for the untrained sprites decoder."""
    rng = generator(task)
    slots, pixels = 5, 6
    even = np.full((1, 2, HEADS, pixels, slots), 1 / slots)
    single = np.broadcast_to(np.eye(slots)[rng.integers(slots, size=pixels)], even.shape)
    pair = np.broadcast_to(np.eye(slots)[:2].mean(axis=0), even.shape)
    values = [float(attention_interaction_of(jnp.asarray(a))) * HEADS**2 for a in (even, single, pair)]
    preset = PRESETS["sprites"]
    key = jax.random.key(int(rng.integers(2**31)))
    decoder = attention_decoder(
        shape=preset.shape, slots=preset.slots, width=preset.width, sampled=256, key=key
    )
    z = jax.random.normal(jax.random.fold_in(key, 1), (images, preset.slots, preset.width))
    drawn = eqx.filter_jit(lambda net, z, k: net(z, key=k).attention)(decoder, z, key)
    untrained = float(attention_interaction_of(drawn)) * HEADS**2
    gaps = np.abs(np.array(values) - np.array([57.6, 0.0, 36.0]))
    return {
        "value_gap": float(gaps.max()),
        "untrained": untrained,
        "untrained_gap": abs(untrained / 57.6 - 1),
    }


def attention_identity(task: Task, *, sharper: float = 1e5) -> Values:
    """Pixels that attend to a slot with weight exactly 0, in every layer and head, do not depend on it.

    Queries are made `sharper` so that the softmax underflows for all slots but one. Sensitivity is relative to the
    largest one: `masked_share` where a pixel does not attend to a slot, `usual_share` the median elsewhere, and
    `masked_places` counts the pairs of pixel and slot without attention.
    """
    rng = generator(task)
    key = jax.random.key(int(rng.integers(2**31)))
    made = attention_decoder(shape=(8, 8, 3), slots=3, width=4, inner=16, queries=16, heads=2, key=key)
    decoder = eqx.tree_at(_query_weights, made, [sharper * weight for weight in _query_weights(made)])
    z = rng.normal(size=(4, 3, 4)).astype(np.float32)
    attention = np.asarray(decoder(jnp.asarray(z)).attention)
    unseen = (attention == 0).all(axis=(1, 2))  # (images, pixels, slots)
    sensitivity = slot_sensitivity(lambda slots: decoder(slots).pixels, z)
    share = sensitivity / sensitivity.max()
    return {
        "masked_places": int(unseen.sum()),
        "masked_share": float(share[unseen].max(initial=0)),
        "usual_share": float(np.median(share[~unseen])),
    }


def _query_weights(decoder: AttentionDecoder) -> list[Array]:
    return [layer.attention.query.weight for layer in decoder.layers]


def parameter_counts(task: Task) -> Values:
    """How many encoders and decoders differ from their published number of parameters."""
    wrong = 0
    for (dataset, encoder, decoder, variational), expected in published.PARAMETERS.items():
        made = authors_net(dataset, encoder=encoder, decoder=decoder, variational=variational)  # type: ignore[arg-type]
        net = eqx.filter_eval_shape(made, key=jax.random.key(0))
        counts = tuple(parameter_count(net.stages[index][1]) for index in (0, 2))
        wrong += sum(a != b for a, b in zip(counts, expected, strict=True))
    return {"counts_that_differ": wrong, "counts": 2 * len(published.PARAMETERS)}


def metric_values(task: Task) -> Values:
    """Scores of known cases; change of J-ARI after permuting slots, and of JIS after rescaling all latents."""
    from sklearn.metrics import adjusted_rand_score

    rng = generator(task)
    jis = []
    for slots, largest in ((2, 0.7), (5, 0.6), (4, 1.0)):
        share = np.full((1, 10, slots), (1 - largest) / (slots - 1))
        share[..., 0] = largest
        jis.append(slot_scores(share, np.ones((1, 10), dtype=int)).jis[0])
    two, three = np.repeat([1, 2], 50), np.repeat([1, 2, 3], 60)
    swapped = two.copy()
    swapped[:5], swapped[50:55] = 2, 1
    cases = [
        (np.where(np.arange(100) < 25, 3, two), two, 0.7468),
        (swapped, two, 0.6363),
        (np.ones(100, dtype=int), two, 0.0),
        (np.minimum(three, 2), three, 0.5687),
    ]
    gaps = [abs(adjusted_rand_score(true, labels) - expected) for labels, true, expected in cases]
    gaps += [abs(value - expected) for value, expected in zip(jis, (0.4, 0.5, 1.0), strict=True)]
    sensitivity, masks = rng.random((5, 60, 4)), rng.integers(4, size=(5, 60))
    first = slot_scores(sensitivity, masks)
    permuted = slot_scores(sensitivity[..., rng.permutation(4)], masks)
    scaled = slot_scores(3.7 * sensitivity, masks)
    return {
        "metric_gap": float(max(gaps)),
        "permutation_gap": float(np.abs(first.j_ari - permuted.j_ari).max()),
        "scale_gap": float(np.abs(first.jis - scaled.jis).max()),
    }


def sprite_statistics(task: Task, *, images: int = 1500, occlusion_images: int = 500) -> Values:
    """Objects, foreground pixels and energy of the published sprites, and how often objects occlude each other.

    Occlusion is measured on the first `occlusion_images` images, whose objects are drawn one by one.
    """
    seed = int(generator(task).integers(2**31))
    scenes = sprites(rows=images, test=0, seed=seed, **PUBLISHED_SPRITES).scenes
    front = (scenes.masks > 0).sum(axis=(1, 2))
    area = np.nansum(scenes.attribute("scale") ** 2, axis=1) * np.prod(scenes.masks.shape[1:])
    few = scenes[:occlusion_images]
    hidden = []
    for number in range(few.latents.shape[1]):
        alone = (few.draw(few.latents[:, number : number + 1]).masks > 0).sum(axis=(1, 2))
        shown = (few.masks == number + 1).sum(axis=(1, 2))
        hidden.append((shown < 0.5 * alone)[few.present[:, number]])
    return {
        "objects": scenes.present.sum(axis=1).mean(),
        "foreground": front.mean(),
        "energy": (scenes.images**2).sum(axis=(1, 2, 3)).mean(),
        "images_with_occlusion": (front < 0.97 * area).mean(),
        "objects_half_hidden": np.concatenate(hidden).mean(),
    }


def schedules(task: Task) -> Values:
    """Differences from the published learning rates and penalty weights, and of this package's recipes from those.

    Recipes apply a step's rate one update earlier, and omit the published code's mistake at step 30,000.
    """
    gaps, recipe_gaps = [], []
    for (dataset, regularised), rates in published.RATES.items():
        recipe = authors_recipe(dataset, alpha=regularised, beta=regularised)
        structure, numbers = recipe.structure(), recipe.numbers()
        for step, rate in zip(published.STEPS, rates, strict=True):
            authors = authors_rate(dataset, step, regularised=regularised)
            gaps.append(abs(authors - rate) / max(rate, 1e-12) if rate else authors)
            if step not in (0, 30_000):
                ours = learning_rate(structure, numbers, jnp.int32(step - 1), jnp.float32(recipe.steps or 0))
                recipe_gaps.append(abs(float(ours) - authors) / authors)
    alphas = [
        abs(authors_alpha(dataset, step) - alpha)
        for dataset, expected in published.ALPHAS.items()
        for step, alpha in zip(published.STEPS, expected, strict=True)
    ]
    return {
        "rate_gap": float(max(gaps)),
        "alpha_gap": float(max(alphas)),
        "recipe_gap": float(max(recipe_gaps)),
    }
