"""Probes of a trained slot autoencoder on scenes: what its slots contain, and how they interact in its decoder.

Each takes `(net, task)`; the task is a `recombine.tasks.SceneTask`. They use rows that were not in training, evenly
spread.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from recombine.metrics.interaction import interaction_profile
from recombine.metrics.slots import (
    NATS,
    attention_interaction_of,
    pair_products,
    reconstruction_error,
    slot_scores,
)
from recombine.nets import DecodedPixels, decode, posterior_of
from recombine.nets.layers.convolution import forward_differentiable
from recombine.remedies import capacity_of
from recombine.studies.interaction_asymmetry.recombination_probes import decoded, spread_rows, stages_of
from recombine.studies.interaction_asymmetry.slot_sensitivity import net_sensitivity
from recombine.tasks import SceneTask

Values = dict[str, Any]


def slot_quality(net: Any, task: SceneTask, *, images: int = 200) -> Values:
    """J-ARI, JIS, active slots and related quantities, at posterior means and at samples (`_drawn`).

    A slot is active if it has the largest share of at least 1% of an image's foreground pixels, whatever the net;
    `informed` counts the slots with more than 1 nat (NaN without a posterior). `sse` is the squared error
    summed over an image, `sse_blank` that of a blank image, `attention_interaction` the penalty in head-mean units (NaN
    without attention), `capacity` the KL divergence in nats and `mean_share` the mean of the largest slot share over
    foreground pixels.

    ```python
    >>> import jax
    >>> from recombine.studies.interaction_asymmetry.table1_line_world import line_net
    >>> from recombine.studies.interaction_asymmetry.slot_probes import slot_quality
    >>> from recombine.tasks import line_world
    >>> task, net = line_world(rows=60, test=20), line_net("smoke", variational=False)(key=jax.random.key(0))
    >>> -1 <= slot_quality(net, task, images=5)["j_ari"] <= 1
    True

    ```
    """
    rows = spread_rows(task.test_in, images)
    x, masks = task.inputs[rows], task.masks[rows]
    stages = stages_of(net, x)
    drawing, nats, drawn = stages["decoder"], None, stages["slots"]
    attends = isinstance(drawing, DecodedPixels)
    if stages["encoding"].shape != drawn.shape:
        mean, deviation = posterior_of(jnp.asarray(stages["encoding"]))
        nats = np.asarray(capacity_of(mean, deviation))
        drawn = drawn + np.asarray(deviation) * np.random.default_rng(0).normal(size=drawn.shape)
    values: Values = {
        "capacity": np.nan if nats is None else nats.sum(axis=1).mean(),
        "informed": np.nan if nats is None else (nats > NATS).sum(axis=1).mean(),
        "attention_interaction": attention_interaction_of(drawing.attention) if attends else np.nan,
        "sse_blank": reconstruction_error(np.zeros_like(x), x).mean(),
    }
    channels = task.inputs.shape[-1]
    for suffix, slots in (("", stages["slots"]), ("_drawn", drawn)):
        reconstructions = np.asarray(decoded(net, slots))
        sensitivity = net_sensitivity(net, slots, channels=channels)
        # Without the capacity, which only variational nets have: so `active` means the same for every net.
        scores = slot_scores(sensitivity, masks)
        means = scores.to_dict()
        values |= {f"{name}{suffix}": means[name] for name in ("j_ari", "jis", "active")}
        values[f"sse{suffix}"] = reconstruction_error(reconstructions, x).mean()
    values["mean_share"] = values["jis"] * (1 - 1 / drawn.shape[1]) + 1 / drawn.shape[1]
    return values


def slot_images(net: Any, task: SceneTask, *, images: int = 4) -> Values:
    """For a figure: images, their reconstructions, and every slot's share of each pixel by Jacobian and attention.

    ```python
    >>> import jax
    >>> from recombine.studies.interaction_asymmetry.table1_line_world import line_net
    >>> from recombine.studies.interaction_asymmetry.slot_probes import slot_images
    >>> from recombine.tasks import line_world
    >>> task, net = line_world(rows=60, test=20), line_net("smoke", variational=False)(key=jax.random.key(0))
    >>> slot_images(net, task)["pictures_jacobian"].shape
    (4, 1, 32, 3)

    ```
    """
    rows = spread_rows(task.test_in, images)
    x = task.inputs[rows]
    stages = stages_of(net, x)
    slots = stages["slots"]
    sensitivity = net_sensitivity(net, slots, channels=x.shape[-1])
    share = sensitivity / np.maximum(sensitivity.sum(axis=2, keepdims=True), 1e-12)
    shape = (*task.masks.shape[1:], slots.shape[1])
    values = {
        "pictures": x,
        "pictures_masks": task.masks[rows],
        "pictures_decoded": decoded(net, slots),
        "pictures_jacobian": share.reshape(len(x), *shape).astype(np.float32),
    }
    if isinstance(stages["decoder"], DecodedPixels):
        pooled = np.asarray(stages["decoder"].attention).mean(axis=(1, 2))
        values["pictures_attention"] = pooled.reshape(len(x), *shape)
    return values


class FlatDecoder(eqx.Module):
    """The decoder of a slot autoencoder as a function of flat latents `(rows, slots · width)`."""

    net: Any
    slots: int = eqx.field(static=True)

    def __call__(self, latents: Array) -> Array:
        """The images."""
        return decode(self.net, latents.reshape(len(latents), self.slots, -1))


def decoder_interaction(
    net: Any, task: SceneTask, *, scenes: int = 32, max_order: int = 2, probes: int = 4
) -> Values:
    """The interaction profile of a trained decoder at the encodings of scenes.

    `q1`, `r2`, ... up to `max_order`, and q1 by region, with energies pooled over pixels: `q1_inside` on
    objects, `q1_border` on pixels next to another label, `q1_background` elsewhere.

    ```python
    >>> import jax
    >>> from recombine.studies.interaction_asymmetry.table1_line_world import line_net
    >>> from recombine.studies.interaction_asymmetry.slot_probes import decoder_interaction
    >>> from recombine.tasks import line_world
    >>> task, net = line_world(rows=60, test=20), line_net("smoke", variational=False)(key=jax.random.key(0))
    >>> sorted(decoder_interaction(net, task, scenes=2))
    ['q1', 'q1_background', 'q1_border', 'q1_inside', 'r2']

    ```
    """
    rows = spread_rows(task.test_in, scenes)
    slots = stages_of(net, task.inputs[rows])["slots"]
    count = slots.shape[1]
    profile = interaction_profile(
        FlatDecoder(forward_differentiable(net), count),
        slots.reshape(len(slots), -1),
        count,
        method="probes",
        max_order=max_order,
        probes=probes,
        samples=None,
        batched=True,
        precision="float32",
    )
    values: Values = {share.name: share.value for share in profile.shares}
    lengths = net_sensitivity(net, slots, channels=1, norm="l2")
    return values | _by_region(lengths, task.masks[rows], task.inputs.shape[-1])


def _by_region(
    lengths: Float[np.ndarray, "n outputs slots"], masks: Int[np.ndarray, "n height width"], channels: int
) -> Values:
    """q1 of the pixels inside objects, at borders and in the background."""
    slots = lengths.shape[2]
    products = pair_products(lengths)
    largest = 0.5 * (1 - 1 / slots) * lengths.sum(axis=2) ** 2
    regions = {"border": np.repeat(borders(masks).reshape(len(masks), -1), channels, axis=1)}
    front = np.repeat(masks.reshape(len(masks), -1) > 0, channels, axis=1)
    regions |= {"inside": front & ~regions["border"], "background": ~front & ~regions["border"]}
    return {f"q1_{name}": _ratio(products[at].sum(), largest[at].sum()) for name, at in regions.items()}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")


def borders(masks: Int[np.ndarray, "n height width"]) -> Bool[np.ndarray, "n height width"]:
    """Pixels with a neighbour (above, below, left or right) of another label."""
    edge = np.zeros(masks.shape, dtype=bool)
    for axis in (1, 2):
        change = np.diff(masks, axis=axis) != 0
        pad = [(0, 0), (0, 0), (0, 0)]
        for side in ((1, 0), (0, 1)):
            pad[axis] = side
            edge |= np.pad(change, pad)
    return edge
