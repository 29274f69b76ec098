"""Probes of a trained slot autoencoder on scenes: what its slots hold, and how they interact in its decoder.

Each takes `(net, task)`; the task is a `recombine.tasks.SceneTask`. Rows that training did not show are used, evenly
spread.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from recombine.nets import Drawn, capacity_of, decode, posterior_of
from recombine.nets.convolution import forward_differentiable
from recombine.probes.interaction import interaction_profile
from recombine.probes.jacobians import net_sensitivity
from recombine.probes.recombining import decoded, spread_rows, stages_of
from recombine.probes.slots import (
    attention_interaction_of,
    pair_products,
    reconstruction_error,
    shares_of,
    slot_scores,
    slots_of_objects,
)
from recombine.tasks import SceneTask, mirror_pixels

Values = dict[str, Any]


def slot_quality(net: Any, task: SceneTask, *, images: int = 200) -> Values:
    """J-ARI, JIS and active slots with what belongs to them, at posterior means and at draws (`_drawn`).

    `sse` is the squared error summed over a picture, `sse_blank` that of an empty one, `attention_interaction` the
    penalty in head-mean units (NaN without attention), `capacity` the KL divergence in nats (NaN without a posterior)
    and `mean_share` the mean largest share on the foreground.
    """
    rows = spread_rows(task.test_in, images)
    x, masks = task.inputs[rows], task.masks[rows]
    stages = stages_of(net, x)
    drawing, nats, drawn = stages["decoder"], None, stages["slots"]
    attends = isinstance(drawing, Drawn)
    if stages["encoding"].shape != drawn.shape:
        mean, deviation = posterior_of(jnp.asarray(stages["encoding"]))
        nats = np.asarray(capacity_of(mean, deviation))
        drawn = drawn + np.asarray(deviation) * np.random.default_rng(0).normal(size=drawn.shape)
    found: Values = {
        "capacity": np.nan if nats is None else nats.sum(axis=1).mean(),
        "attention_interaction": attention_interaction_of(drawing.attention) if attends else np.nan,
        "sse_blank": reconstruction_error(np.zeros_like(x), x).mean(),
    }
    channels = task.inputs.shape[-1]
    for suffix, slots in (("", stages["slots"]), ("_drawn", drawn)):
        pictures = np.asarray(decoded(net, slots))
        sensitivity = net_sensitivity(net, slots, channels=channels)
        scores = slot_scores(sensitivity, masks, capacity=nats)
        means = scores.to_dict()
        found |= {f"{name}{suffix}": means[name] for name in ("j_ari", "jis", "active")}
        found[f"sse{suffix}"] = reconstruction_error(pictures, x).mean()
    found["mean_share"] = found["jis"] * (1 - 1 / drawn.shape[1]) + 1 / drawn.shape[1]
    return found


def slot_pictures(net: Any, task: SceneTask, *, images: int = 4) -> Values:
    """For a figure: pictures, their reconstructions, and every slot's share of each pixel by Jacobian and attention."""
    rows = spread_rows(task.test_in, images)
    x = task.inputs[rows]
    stages = stages_of(net, x)
    slots = stages["slots"]
    sensitivity = net_sensitivity(net, slots, channels=x.shape[-1])
    share = sensitivity / np.maximum(sensitivity.sum(axis=2, keepdims=True), 1e-12)
    shape = (*task.masks.shape[1:], slots.shape[1])
    found = {
        "pictures": x,
        "pictures_masks": task.masks[rows],
        "pictures_decoded": decoded(net, slots),
        "pictures_jacobian": share.reshape(len(x), *shape).astype(np.float32),
    }
    if isinstance(stages["decoder"], Drawn):
        pooled = np.asarray(stages["decoder"].attention).mean(axis=(1, 2))
        found["pictures_attention"] = pooled.reshape(len(x), *shape)
    return found


def mirror_quality(net: Any, task: SceneTask, *, images: int = 100) -> Values:
    """Scores without the pixels of metal, which may well depend on what they reflect, and what those depend on.

    `jis_mirror` is the interaction score on metal alone. `reflected_share` is the mean share that the slots of *other*
    objects have there, `other_share` the same on the rest of the foreground.
    """
    rows = spread_rows(task.test_in, images)
    scenes = task.scenes[rows]
    metal, front = mirror_pixels(scenes), scenes.masks > 0
    slots = stages_of(net, scenes.images)["slots"]
    sensitivity = net_sensitivity(net, slots, channels=scenes.images.shape[-1])
    holds = slots_of_objects(sensitivity, scenes.masks, scenes.latents.shape[1])
    labels = scenes.masks.reshape(len(rows), -1)
    own = np.take_along_axis(np.pad(holds, [(0, 0), (1, 0)]), labels.astype(int), axis=1)
    share = np.take_along_axis(shares_of(sensitivity), own[..., None], axis=2)[..., 0]
    others = 1 - share
    inside = metal.reshape(labels.shape) & (labels > 0)
    return {
        "j_ari_matt": slot_scores(sensitivity, scenes.masks, counted=~metal).j_ari.mean(),
        "jis_mirror": slot_scores(sensitivity, scenes.masks, counted=metal & front).jis.mean(),
        "reflected_share": others[inside].mean(),
        "other_share": others[(labels > 0) & ~inside].mean(),
    }


class FlatDecoder(eqx.Module):
    """The decoder of a slot autoencoder as a function of flat latents `(rows, slots · width)`."""

    net: Any
    slots: int = eqx.field(static=True)

    def __call__(self, latents: Array) -> Array:
        """The pictures."""
        return decode(self.net, latents.reshape(len(latents), self.slots, -1))


def decoder_interaction(
    net: Any, task: SceneTask, *, scenes: int = 32, max_order: int = 2, probes: int = 4
) -> Values:
    """The interaction profile of a trained decoder at the encodings of scenes.

    `q1`, `r2`, ... up to `max_order`, and q1 by where a pixel lies, its energies pooled over pixels: `q1_inside` on
    objects, `q1_border` on pixels next to another label, `q1_background` elsewhere.
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
    found: Values = {share.name: share.value for share in profile.shares}
    lengths = net_sensitivity(net, slots, channels=1, norm="l2")
    return found | _by_place(lengths, task.masks[rows], task.inputs.shape[-1])


def _by_place(
    lengths: Float[np.ndarray, "n outputs slots"], masks: Int[np.ndarray, "n height width"], channels: int
) -> Values:
    """q1 of the pixels inside objects, at borders and in the background."""
    slots = lengths.shape[2]
    products = pair_products(lengths)
    most = 0.5 * (1 - 1 / slots) * lengths.sum(axis=2) ** 2
    places = {"border": np.repeat(borders(masks).reshape(len(masks), -1), channels, axis=1)}
    front = np.repeat(masks.reshape(len(masks), -1) > 0, channels, axis=1)
    places |= {"inside": front & ~places["border"], "background": ~front & ~places["border"]}
    return {f"q1_{name}": _ratio(products[at].sum(), most[at].sum()) for name, at in places.items()}


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
