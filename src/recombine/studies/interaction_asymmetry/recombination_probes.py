"""Probes that exchange slots between encodings: does the decoder produce the true recombination?

This is the test that the theory of interaction asymmetry calls for; Brady et al. (2025) prove it but do not run it.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from recombine.errors import InputError
from recombine.metrics.identifiability import slot_identifiability
from recombine.metrics.slots import slots_of_objects
from recombine.nets import decode, evaluate, evaluate_stages
from recombine.studies.interaction_asymmetry.slot_sensitivity import net_sensitivity
from recombine.tasks import InteractionTask, SceneTask

Values = dict[str, Any]
EXAMPLES = 6
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Of the ridge regression that decodes true slots; cross-validation picks one."""


def recombination(net: Any, task: SceneTask, *, scenes: int = 400, pairs: int = 400, seed: int = 0) -> Values:
    """Exchanges a slot between two encodings, decodes, and compares the result with the true recombination.

    A slot k is exchanged if it contains an object in both scenes (by its share of the objects' pixels); the target
    shows the first scene with its object replaced by the second scene's, if such a scene is valid. R² is over all
    pixels, relative to the mean target: `recombined_r2_in` and `_out` where the new combination is in seen
    and in unseen cells (NaN if there are none), `kept_r2_*` without the exchange, and `again_r2_*` if the target
    itself is encoded and decoded, which shows what the encoder contributes. `pairs_in` and `pairs_out` are counts.
    `gallery` `(4, examples, ...)` has both scenes, the target and the decoded image, for unseen cells if there are any.

    ```python
    >>> import jax
    >>> from recombine.studies.interaction_asymmetry.table1_line_world import line_net
    >>> from recombine.studies.interaction_asymmetry.recombination_probes import recombination
    >>> from recombine.tasks import line_world
    >>> task, net = line_world(rows=60, test=20), line_net("smoke", variational=False)(key=jax.random.key(0))
    >>> recombination(net, task, scenes=10)["gallery"].shape[0]
    4

    ```
    """
    rows = spread_rows(task.test_in, scenes)
    shown = task.scenes[rows]
    slots = stages_of(net, shown.images)["slots"]
    objects = shown.latents.shape[1]
    sensitivity = net_sensitivity(net, slots, channels=shown.images.shape[-1])
    holds = slots_of_objects(sensitivity, shown.masks, objects)
    first, number, second, by, slot = _exchanges(holds, seed)
    latents = shown.latents[first].copy()
    latents[np.arange(len(first)), number] = shown.latents[second, by]
    allowed = shown.legal(latents)
    recombined = shown.draw(latents)
    seen = task.split.seen[task.cell_of(latents)]
    values: Values = {}
    for side, mask in (("in", allowed & seen), ("out", allowed & ~seen)):
        chosen = np.flatnonzero(mask)[:pairs]
        values[f"pairs_{side}"] = len(chosen)
        mixed = slots[first[chosen]].copy()
        mixed[np.arange(len(chosen)), slot[chosen]] = slots[second[chosen], slot[chosen]]
        target = recombined.images[chosen]
        predictions = {
            "recombined": decoded(net, mixed) if len(chosen) else target,
            "kept": shown.images[first[chosen]],
        }
        predictions["again"] = evaluate(net, target) if len(chosen) else target
        for name, images in predictions.items():
            values[f"{name}_r2_{side}"] = image_r2(images, target)
        if side == ("out" if len(task.rows_out) else "in"):
            columns = (
                shown.images[first[chosen]],
                shown.images[second[chosen]],
                target,
                predictions["recombined"],
            )
            values["gallery"] = np.stack([_first(column, EXAMPLES) for column in columns])
    return values


def slot_recovery(net: Any, task: InteractionTask, *, rows: int = 1000) -> Values:
    """Are the slots of an autoencoder those of the generator? And do they recombine?

    `matched` and `crossed` are R² of the true slots from the matched and from the best other slot, minimum and maximum
    over slots; `gap` is the mean difference (`slot_identifiability`, with a cross-validated penalty).
    `recombined_r2_in` is that of outputs decoded from slots of two different inputs compared with the generator's,
    `_out` where that combination is in unseen cells
    (NaN if there are none); `fit_r2` is that of plain reconstruction.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.studies.interaction_asymmetry.recombination_probes import slot_recovery
    >>> from recombine.tasks import interaction_task
    >>> hidden = {"hidden": (8,)}
    >>> net = nets.slot_autoencoder(
    ...     shape=(20,), slots=2, width=2, variational=False, encoder=Part(nets.dense_slots, **hidden),
    ...     decoder=Part(nets.additive_decoder, **hidden, shared=False), key=jax.random.key(0),
    ... )
    >>> values = slot_recovery(net, interaction_task(slots=(2, 2), outputs=20, order=1, rows=500), rows=200)
    >>> values["matched"] <= 1 and values["fit_r2"] < 1
    True

    ```
    """
    chosen = spread_rows(task.test_in, rows)
    assert task.latents is not None
    drawn = task.latents[chosen]
    x, true = task.inputs[chosen], _true_slots(task, drawn)
    slots = stages_of(net, x)["slots"]
    scores = slot_identifiability(slots, true, penalties=PENALTIES)
    values: Values = {
        "matched": scores["matched"].min(),
        "crossed": scores["crossed"].max(),
        "gap": scores["score"],
        "fit_r2": image_r2(decoded(net, slots), x),
    }
    holds = linear_sum_assignment(-scores["r2"])[1]
    other = np.roll(np.arange(len(x)), 1)
    first, latents = np.array(task.decoder.slots[0]), drawn.copy()
    latents[:, first] = drawn[other][:, first]
    mixed = slots.copy()
    mixed[:, holds[0]] = slots[other, holds[0]]
    seen = task.split.seen[task.cell_of(latents)]
    for side, mask in (("in", seen), ("out", ~seen)):
        target = task.decoder(latents[mask])
        outputs = decoded(net, mixed[mask]) if mask.any() else target
        values[f"recombined_r2_{side}"] = image_r2(outputs, target)
    return values


def image_r2(prediction: Float[np.ndarray, "n ..."], target: Float[np.ndarray, "n ..."]) -> float:
    """1 - squared error / variance about the mean target; NaN for fewer than two images.

    ```python
    >>> import numpy as np
    >>> from recombine.studies.interaction_asymmetry.recombination_probes import image_r2
    >>> target = np.arange(6.0).reshape(3, 2)
    >>> image_r2(target, target), image_r2(target[::-1], target)
    (1.0, -3.0)

    ```
    """
    if len(target) < 2:
        return float("nan")
    return float(1 - ((prediction - target) ** 2).sum() / ((target - target.mean(axis=0)) ** 2).sum())


def _true_slots(task: InteractionTask, latents: Float[np.ndarray, "n latents"]) -> np.ndarray:
    return np.stack([latents[:, np.array(slot)] for slot in task.decoder.slots], axis=1)


def _exchanges(holds: Int[np.ndarray, "n objects"], seed: int) -> tuple[np.ndarray, ...]:
    """Scene and object of the first and of the second, and the slot that contains both; in random order."""
    rng = np.random.default_rng([seed, 17])
    scenes, objects = np.nonzero(holds >= 0)
    order = rng.permutation(len(scenes))
    scenes, objects = scenes[order], objects[order]
    slot = holds[scenes, objects]
    partner = np.empty(len(scenes), dtype=int)
    for k in np.unique(slot):
        members = np.flatnonzero(slot == k)
        partner[members] = np.roll(members, 1)
    different = scenes != scenes[partner]
    return (
        scenes[different],
        objects[different],
        scenes[partner][different],
        objects[partner][different],
        slot[different],
    )


def stages_of(net: Any, x: np.ndarray) -> dict[str, Any]:
    """The outputs of all stages at posterior means, as NumPy arrays."""
    names = [name for name, _ in net.stages]
    if "slots" not in names:
        raise InputError("net", names, "a net with a stage 'slots'")
    return evaluate_stages(net, x)


def decoded(net: Any, slots: np.ndarray, *, batch: int = 64) -> np.ndarray:
    """The images decoded from slots, as a NumPy array."""
    pieces = []
    for start in range(0, len(slots), batch):
        piece = slots[start : start + batch]
        padded = np.pad(piece, [(0, batch - len(piece)), (0, 0), (0, 0)])
        pieces.append(np.asarray(_decode(net, jnp.asarray(padded)))[: len(piece)])
    return np.concatenate(pieces)


_decode = eqx.filter_jit(decode)


def _first(images: Float[np.ndarray, "n ..."], count: int) -> Float[np.ndarray, "count ..."]:
    """The first `count` images, padded with NaN."""
    missing = np.full((max(0, count - len(images)), *images.shape[1:]), np.nan, images.dtype)
    return np.concatenate([images[:count], missing])


def spread_rows(rows: Int[np.ndarray, " rows"], limit: int) -> Int[np.ndarray, " chosen"]:
    """At most `limit` of the rows, evenly spread."""
    if not len(rows):
        raise InputError("task", "no test rows", "rows of seen cells that training leaves out")
    return rows[np.linspace(0, len(rows) - 1, min(limit, len(rows))).round().astype(int)]
