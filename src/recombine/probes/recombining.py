"""Exchanging slots between encodings: does the decoder draw what the world would show?

The test that the theory of interaction asymmetry asks for (Brady et al. 2025 prove it and do not run it).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from recombine.errors import InputError
from recombine.nets import decode, evaluate, evaluate_stages
from recombine.probes.identifiability import slot_identifiability
from recombine.probes.jacobians import net_sensitivity
from recombine.probes.slots import slots_of_objects
from recombine.tasks import InteractionTask, SceneTask

Values = dict[str, Any]
EXAMPLES = 6


def recombination(net: Any, task: SceneTask, *, scenes: int = 400, pairs: int = 400, seed: int = 0) -> Values:
    """Exchanges a slot between two encodings, decodes, and compares with the true picture of that recombination.

    A slot k is exchanged if it holds an object in both scenes (by its share of the objects' pixels); the true picture
    shows the first scene with its object replaced by the second scene's, where the world allows it. R² is over all
    pixels, about the mean of the true pictures: `recombined_r2_in` and `_out` where the new combination is of seen
    and of unseen cells (NaN if there are none), `kept_r2_*` if nothing had been exchanged, and `again_r2_*` if the true
    picture itself is encoded and decoded, which shows what the encoder makes of it. `pairs_in` and `pairs_out` count.
    `gallery` `(4, examples, ...)` shows both scenes, the truth and what was decoded, of unseen cells if there are any.
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
    true = shown.draw(latents)
    seen = task.split.seen[task.cell_of(latents)]
    found: Values = {}
    for side, kept in (("in", allowed & seen), ("out", allowed & ~seen)):
        chosen = np.flatnonzero(kept)[:pairs]
        found[f"pairs_{side}"] = len(chosen)
        mixed = slots[first[chosen]].copy()
        mixed[np.arange(len(chosen)), slot[chosen]] = slots[second[chosen], slot[chosen]]
        truth = true.images[chosen]
        pictures = {
            "recombined": decoded(net, mixed) if len(chosen) else truth,
            "kept": shown.images[first[chosen]],
        }
        pictures["again"] = evaluate(net, truth) if len(chosen) else truth
        for name, found_pictures in pictures.items():
            found[f"{name}_r2_{side}"] = picture_r2(found_pictures, truth)
        if side == ("out" if len(task.rows_out) else "in"):
            columns = (
                shown.images[first[chosen]],
                shown.images[second[chosen]],
                truth,
                pictures["recombined"],
            )
            found["gallery"] = np.stack([_first(column, EXAMPLES) for column in columns])
    return found


def slots_found(net: Any, task: InteractionTask, *, rows: int = 1000) -> Values:
    """Are the slots of an autoencoder those of the generator? And do they recombine?

    `matched` and `crossed` are R² of the true slots from the matched and from the best other slot, least and largest
    over slots; `gap` is the mean difference (`slot_identifiability`). `recombined_r2_in` is that of
    outputs decoded from slots of two different inputs against the generator's, `_out` where that combination is of
    unseen cells (NaN if there are none); `fit_r2` is that of plain reconstruction.
    """
    chosen = spread_rows(task.test_in, rows)
    assert task.latents is not None
    drawn = task.latents[chosen]
    x, true = task.inputs[chosen], _true_slots(task, drawn)
    slots = stages_of(net, x)["slots"]
    scores = slot_identifiability(slots, true)
    found: Values = {
        "matched": scores["matched"].min(),
        "crossed": scores["crossed"].max(),
        "gap": scores["score"],
        "fit_r2": picture_r2(decoded(net, slots), x),
    }
    holds = linear_sum_assignment(-scores["r2"])[1]
    other = np.roll(np.arange(len(x)), 1)
    first, latents = np.array(task.decoder.slots[0]), drawn.copy()
    latents[:, first] = drawn[other][:, first]
    mixed = slots.copy()
    mixed[:, holds[0]] = slots[other, holds[0]]
    seen = task.split.seen[task.cell_of(latents)]
    for side, kept in (("in", seen), ("out", ~seen)):
        wanted = task.decoder(latents[kept])
        made = decoded(net, mixed[kept]) if kept.any() else wanted
        found[f"recombined_r2_{side}"] = picture_r2(made, wanted)
    return found


def picture_r2(found: Float[np.ndarray, "n ..."], true: Float[np.ndarray, "n ..."]) -> float:
    """1 - squared error over the variance about the mean picture; NaN for fewer than two pictures."""
    if len(true) < 2:
        return float("nan")
    return float(1 - ((found - true) ** 2).sum() / ((true - true.mean(axis=0)) ** 2).sum())


def _true_slots(task: InteractionTask, latents: Float[np.ndarray, "n latents"]) -> np.ndarray:
    return np.stack([latents[:, np.array(slot)] for slot in task.decoder.slots], axis=1)


def _exchanges(holds: Int[np.ndarray, "n objects"], seed: int) -> tuple[np.ndarray, ...]:
    """Scene and object of the first, scene and object of the second, and the slot that holds both; in random order."""
    rng = np.random.default_rng([seed, 17])
    scenes, objects = np.nonzero(holds >= 0)
    order = rng.permutation(len(scenes))
    scenes, objects = scenes[order], objects[order]
    slot = holds[scenes, objects]
    partner = np.empty(len(scenes), dtype=int)
    for k in np.unique(slot):
        members = np.flatnonzero(slot == k)
        partner[members] = np.roll(members, 1)
    apart = scenes != scenes[partner]
    return scenes[apart], objects[apart], scenes[partner][apart], objects[partner][apart], slot[apart]


def stages_of(net: Any, x: np.ndarray) -> dict[str, Any]:
    """All stages at posterior means, as NumPy arrays."""
    names = [name for name, _ in net.stages]
    if "slots" not in names:
        raise InputError("net", names, "a net with a stage 'slots'")
    return evaluate_stages(net, x)


def decoded(net: Any, slots: np.ndarray, *, batch: int = 64) -> np.ndarray:
    """The pictures of slots, as a NumPy array."""
    pieces = []
    for start in range(0, len(slots), batch):
        piece = slots[start : start + batch]
        padded = np.pad(piece, [(0, batch - len(piece)), (0, 0), (0, 0)])
        pieces.append(np.asarray(_decode(net, jnp.asarray(padded)))[: len(piece)])
    return np.concatenate(pieces)


_decode = eqx.filter_jit(decode)


def _first(pictures: Float[np.ndarray, "n ..."], count: int) -> Float[np.ndarray, "count ..."]:
    """The first ones, filled up with NaN."""
    missing = np.full((max(0, count - len(pictures)), *pictures.shape[1:]), np.nan, pictures.dtype)
    return np.concatenate([pictures[:count], missing])


def spread_rows(rows: Int[np.ndarray, " rows"], most: int) -> Int[np.ndarray, " chosen"]:
    """At most so many of the rows, evenly spread."""
    if not len(rows):
        raise InputError("task", "no test rows", "rows of seen cells that training leaves out")
    return rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)]
