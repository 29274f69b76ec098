"""Slot scores: whether each slot of a decoder represents one object, J-ARI, JIS and interaction (Brady et al. 2025).

All functions take plain arrays. `sensitivity` `(images, pixels, slots)` is how much a pixel changes with a slot: for
the published scores, the sum of |∂x/∂z| over the slot's latents and the pixel's channels. `masks` `(images, pixels)`
are the true object labels, with 0 for the background, which all scores ignore.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.intervals import percentile_interval, resample_counts

DRAWS = 2000
"""Resamples of the images, for intervals of mean scores."""
WINS = 0.01
"""A slot is active if it has the largest share in this fraction of an image's foreground pixels ..."""
NATS = 1.0
"""... or carries more information than this, in nats."""


def slot_shares(
    sensitivity: Float[np.ndarray, "images pixels slots"],
) -> Float[np.ndarray, "images pixels slots"]:
    """Each slot's share of a pixel's sensitivity.

    **Arguments:**

    - `sensitivity`: `(images, pixels, slots)`, any scale.

    **Returns:**

    `(images, pixels, slots)`, from 0 to 1, with sum 1 over slots. Null value: equal shares, also for pixels that depend
    on no slot.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import slot_shares
    >>> slot_shares(np.array([[[3.0, 1.0], [0.0, 0.0]]])).tolist()
    [[[0.75, 0.25], [0.5, 0.5]]]

    ```
    """
    total = sensitivity.sum(axis=-1, keepdims=True)
    return np.where(total > 0, sensitivity / np.where(total > 0, total, 1), 1 / sensitivity.shape[-1])


def pair_products(values: Any) -> Any:
    """The sum of products of all pairs, Σ_{j<k} v_j v_k, over the last axis of NumPy or JAX arrays.

    For values from 0 upwards it is 0 if and only if at most one of them is not 0.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import pair_products
    >>> float(pair_products(np.array([1.0, 2.0, 3.0])))
    11.0

    ```
    """
    # (Σ v)² = Σ v² + 2 Σ_{j<k} v_j v_k, so no pairs have to be formed.
    return 0.5 * (values.sum(axis=-1) ** 2 - (values**2).sum(axis=-1))


def contrast_of(sensitivity: Any) -> Any:
    """The compositional contrast, Σ_l Σ_{j<k} s_lj s_lk of the lengths s_lk = |∂x_l/∂z_k| (Brady et al. 2023).

    **Arguments:**

    - `sensitivity`: the lengths, `(..., outputs, slots)`, of NumPy or JAX.

    **Returns:**

    `(...)`, from 0 (each output depends on one slot) upwards. Null value: for K slots of equal length s in L outputs,
    L K (K - 1) s² / 2.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import contrast_of
    >>> float(contrast_of(np.array([[1.0, 0.0], [0.0, 3.0]]))), float(contrast_of(np.array([[1.0, 2.0]])))
    (0.0, 2.0)

    ```
    """
    return pair_products(sensitivity).sum(axis=-1)


def attention_interaction_of(attention: Any) -> Any:
    """The attention interaction: the mean over pixels of Σ_{j<k} W_j W_k, with W averaged over layers and heads.

    **Arguments:**

    - `attention`: `(batch, layers, heads, pixels, slots)`, of NumPy or JAX, with sum 1 over slots.

    **Returns:**

    From 0 (every pixel attends to one slot) to (1 - 1/K) / 2 for K slots (equal attention, the null value). The authors
    sum over heads instead of averaging, which multiplies it by (number of heads)²: see
    `recombine.remedies.head_mean_weight`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import attention_interaction_of
    >>> even = np.full((1, 2, 12, 7, 5), 1 / 5)
    >>> round(float(attention_interaction_of(even)) * 12**2, 4)
    57.6

    ```
    """
    if attention.ndim != 5:
        raise InputError("attention", attention.shape, "(batch, layers, heads, pixels, slots)")
    return pair_products(attention.mean(axis=(1, 2))).mean()


def relative_contrast(sensitivity: Float[np.ndarray, "images pixels slots"]) -> Float[np.ndarray, " images"]:
    """The compositional contrast of every image, made independent of the scale of the images.

    Lengths are divided by their mean over slots. A pixel's weight is that mean over the largest mean of the image.

    **Returns:**

    `(images,)`, from 0 (each pixel depends on one slot) upwards. Null value: K (K - 1) / 2 for every pixel of full
    weight, for K equal slots.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import relative_contrast
    >>> relative_contrast(np.ones((1, 4, 3))).round(6).tolist()  # 4 pixels, 3 pairs of equal slots
    [12.0]

    ```
    """
    mean = sensitivity.mean(axis=-1, keepdims=True) + 1e-12
    weight = mean[..., 0] / mean[..., 0].max(axis=1, keepdims=True)
    return (weight * pair_products(sensitivity / mean)).sum(axis=1)


def reconstruction_error(
    outputs: Float[np.ndarray, "images ..."], targets: Float[np.ndarray, "images ..."]
) -> Float[np.ndarray, " images"]:
    """The squared error of every image, summed over its pixels and channels (divide by their number for the mean).

    **Arguments:**

    - `outputs`, `targets`: of the same shape, `(images, ...)`.

    **Returns:**

    `(images,)`, from 0 upwards. Null value: the error of a blank image or of the mean image.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import reconstruction_error
    >>> reconstruction_error(np.zeros((2, 1, 2)), np.array([[[1.0, 1.0]], [[0.0, 1.0]]])).tolist()
    [2.0, 1.0]

    ```
    """
    if outputs.shape != targets.shape:
        raise InputError("outputs", outputs.shape, f"the targets' shape {targets.shape}")
    return ((outputs - targets) ** 2).reshape(len(targets), -1).sum(axis=1)


@dataclass(frozen=True)
class SlotScores:
    """Scores of every image. Report them together, because a trivial decoder can reach a perfect value of any one.

    **Attributes:**

    - `j_ari`: adjusted Rand index on foreground pixels between the slot with the largest share and the true mask. At
        most 1 (the same partition); null value 0 (unrelated partitions).
    - `jis`: the mean largest share of foreground pixels, scaled to run from 0 (equal shares, the null value) to 1
        (every pixel depends on a single slot, which may be the same slot for all pixels).
    - `active`: the number of slots with the largest share in at least 1% of the foreground or with more than 1 nat of
        information.
    - `objects`: the number of visible objects.
    """

    j_ari: Float[np.ndarray, " images"]
    jis: Float[np.ndarray, " images"]
    active: Int[np.ndarray, " images"]
    objects: Int[np.ndarray, " images"]

    def interval(self, name: str, *, level: float = 0.95) -> tuple[float, float]:
        """A bootstrap interval over images of the mean of a score."""
        values = getattr(self, name)
        counts = resample_counts(np.random.default_rng(0), len(values), DRAWS)
        return percentile_interval(counts @ values / len(values), level=level)

    def to_dict(self) -> dict[str, float]:
        """Means over images."""
        return {name: float(getattr(self, name).mean()) for name in ("j_ari", "jis", "active", "objects")}

    def __str__(self) -> str:
        means = self.to_dict()
        parts = [
            f"{label} {means[name]:.2f} [{low:.2f}, {high:.2f}]"
            for label, name in (("J-ARI", "j_ari"), ("JIS", "jis"))
            for low, high in (self.interval(name),)
        ]
        return (
            f"{', '.join(parts)}; {means['active']:.1f} active slots for {means['objects']:.1f} objects "
            f"({len(self.j_ari)} images)"
        )


def slot_scores(
    sensitivity: Float[np.ndarray, "images pixels slots"],
    masks: Int[np.ndarray, "images ..."],
    *,
    capacity: Float[np.ndarray, "images slots"] | None = None,
    counted: Bool[np.ndarray, "images ..."] | None = None,
) -> SlotScores:
    """J-ARI, JIS and the number of active slots for every image.

    **Arguments:**

    - `sensitivity`: `(images, pixels, slots)`, any scale; how much a pixel changes with a slot.
    - `masks`: true labels, 0 for the background; images without foreground are left out.
    - `capacity`: the information of every slot in nats, if the model has a posterior.
    - `counted`: true for pixels to use; leaves out, for example, mirrors, whose pixels may depend on other objects.

    **Returns:**

    [`recombine.metrics.SlotScores`][], with the range and null value of each score.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import slot_scores
    >>> masks = np.array([[0, 0, 1, 1, 2, 2]])
    >>> print(slot_scores(np.eye(3)[masks], masks))
    J-ARI 1.00 [1.00, 1.00], JIS 1.00 [1.00, 1.00]; 2.0 active slots for 2.0 objects (1 images)

    ```
    """
    from sklearn.metrics import adjusted_rand_score  # here, because it takes a second to import

    sensitivity = np.asarray(sensitivity, dtype=np.float64)
    masks = np.asarray(masks).reshape(len(masks), -1)
    if sensitivity.ndim != 3 or sensitivity.shape[:2] != masks.shape:
        raise InputError("masks", masks.shape, f"a label for each pixel of sensitivity {sensitivity.shape}")
    slots = sensitivity.shape[2]
    if slots < 2:
        raise InputError("slots", slots, "2 or more")
    if not np.isfinite(sensitivity).all():
        raise InputError("sensitivity", "a value that is not finite", "finite numbers")
    if capacity is not None and np.shape(capacity) != (len(masks), slots):
        raise InputError("capacity", np.shape(capacity), f"{(len(masks), slots)}: images and slots")
    foreground = masks > 0
    if counted is not None:
        if np.size(counted) != masks.size:
            raise InputError("counted", np.shape(counted), f"a value for each pixel of masks {masks.shape}")
        foreground = foreground & np.asarray(counted).reshape(masks.shape)
    rows = np.flatnonzero(foreground.any(axis=1))
    if not len(rows):
        raise InputError("masks", "no pixel above 0", "labels with objects")
    shares = slot_shares(sensitivity)
    largest_slot = shares.argmax(axis=2)
    scores: dict[str, list[float]] = {"j_ari": [], "jis": [], "active": [], "objects": []}
    for row in rows:
        pixels = foreground[row]
        wins = np.bincount(largest_slot[row, pixels], minlength=slots) / pixels.sum()
        active = wins >= WINS
        if capacity is not None:
            active = active | (capacity[row] > NATS)
        largest_share = shares[row, pixels].max(axis=1).mean()
        scores["j_ari"].append(float(adjusted_rand_score(masks[row, pixels], largest_slot[row, pixels])))
        scores["jis"].append((largest_share - 1 / slots) / (1 - 1 / slots))
        scores["active"].append(int(active.sum()))
        scores["objects"].append(len(np.unique(masks[row, pixels])))
    return SlotScores(**{name: np.array(values) for name, values in scores.items()})


def slots_of_objects(
    sensitivity: Float[np.ndarray, "images pixels slots"],
    masks: Int[np.ndarray, "images ..."],
    objects: int,
) -> Int[np.ndarray, "images objects"]:
    """The slot of every object: the one-to-one assignment with the largest mean share on the objects' pixels.

    **Arguments:**

    - `sensitivity`, `masks`: as for [`recombine.metrics.slot_scores`][].
    - `objects`: the number of objects, labelled from 1; at most the number of slots.

    **Returns:**

    `(images, objects)` slot numbers, -1 for an object that is not visible.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import slots_of_objects
    >>> masks = np.array([[0, 0, 1, 1, 2, 2]])
    >>> slots_of_objects(np.eye(3)[masks], masks, objects=2).tolist()
    [[1, 2]]

    ```
    """
    from scipy.optimize import linear_sum_assignment

    masks = np.asarray(masks).reshape(len(masks), -1)
    slots = sensitivity.shape[2]
    if objects > slots:
        raise InputError("slots", slots, f"at least as many as the {objects} objects")
    shares, assigned = slot_shares(sensitivity), np.full((len(masks), objects), -1)
    for row, labels in enumerate(masks):
        visible = [number for number in range(objects) if (labels == number + 1).any()]
        if visible:
            mean_shares = np.stack([shares[row, labels == number + 1].mean(axis=0) for number in visible])
            order, slot = linear_sum_assignment(-mean_shares)
            assigned[row, np.array(visible)[order]] = slot
    return assigned
