"""Do slots hold objects? Scores of a decoder's slot-pixel sensitivity against true masks (Brady et al. 2025).

All functions take plain arrays. `sensitivity` `(images, pixels, slots)` says how much a pixel changes with a slot: the
sum of |∂x/∂z| over the slot's latents and the pixel's channels for the published scores (`probes.jacobians` computes
it). `masks` `(images, pixels)` are labels with 0 for the background, which no score looks at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError

WINS = 0.01
"""A slot is active if it wins this share of an image's foreground pixels ..."""
NATS = 1.0
"""... or carries more than this."""


def shares_of(
    sensitivity: Float[np.ndarray, "images pixels slots"],
) -> Float[np.ndarray, "images pixels slots"]:
    """Sensitivity divided by its sum over slots; equal shares where a pixel depends on no slot at all.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import shares_of
    >>> shares_of(np.array([[[3.0, 1.0], [0.0, 0.0]]])).tolist()
    [[[0.75, 0.25], [0.5, 0.5]]]

    ```
    """
    total = sensitivity.sum(axis=-1, keepdims=True)
    return np.where(total > 0, sensitivity / np.where(total > 0, total, 1), 1 / sensitivity.shape[-1])


def pair_products(values: Any) -> Any:
    """Σ_{j<k} v_j v_k over the last axis, of NumPy or JAX.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import pair_products
    >>> float(pair_products(np.array([1.0, 2.0, 3.0])))
    11.0

    ```
    """
    return 0.5 * (values.sum(axis=-1) ** 2 - (values**2).sum(axis=-1))


def contrast_of(sensitivity: Any) -> Any:
    """Σ_l Σ_{j<k} s_lj s_lk of the lengths s_lk = |∂x_l/∂z_k|; 0 if and only if each output depends on one slot.

    The compositional contrast of Brady et al. 2023, for arrays `(..., outputs, slots)` of NumPy or JAX.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import contrast_of
    >>> float(contrast_of(np.array([[1.0, 0.0], [0.0, 3.0]]))), float(contrast_of(np.array([[1.0, 2.0]])))
    (0.0, 2.0)

    ```
    """
    return pair_products(sensitivity).sum(axis=-1)


def attention_interaction_of(attention: Any) -> Any:
    """Mean over pixels of Σ_{j<k} W_j W_k, where W is attention averaged over layers and heads.

    `attention` is `(batch, layers, heads, pixels, slots)`, of NumPy or JAX, and sums to 1 over slots.

    From 0 (every pixel attends to one slot) to (1 - 1/K) / 2. The authors sum over heads instead of averaging, which
    multiplies it by (number of heads)²: see `recombine.remedies.head_mean_weight`.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import attention_interaction_of
    >>> even = np.full((1, 2, 12, 7, 5), 1 / 5)
    >>> round(float(attention_interaction_of(even)) * 12**2, 4)
    57.6

    ```
    """
    if attention.ndim != 5:
        raise InputError("attention", attention.shape, "(batch, layers, heads, pixels, slots)")
    return pair_products(attention.mean(axis=(1, 2))).mean()


def relative_contrast(sensitivity: Float[np.ndarray, "images pixels slots"]) -> Float[np.ndarray, " images"]:
    """The contrast of images of any scale: lengths over their mean over slots, pixels weighted by that mean.

    A pixel's weight is its mean length over the largest mean length of the image.
    """
    mean = sensitivity.mean(axis=-1, keepdims=True) + 1e-12
    weight = mean[..., 0] / mean[..., 0].max(axis=1, keepdims=True)
    return (weight * pair_products(sensitivity / mean)).sum(axis=1)


def adjusted_rand_index(found: Int[np.ndarray, " pixels"], true: Int[np.ndarray, " pixels"]) -> float:
    """Agreement of two labellings beyond chance: 1 for the same partition, about 0 for unrelated ones.

    The same partition has 1 also where chance would do as well: a single part, or every pixel a part of its own.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import adjusted_rand_index
    >>> true = np.repeat([0, 1], 50)
    >>> split = np.where(np.arange(100) < 25, 2, true)  # half of the first object in another slot
    >>> round(adjusted_rand_index(split, true), 4)
    0.7468

    ```
    """
    if found.shape != true.shape or found.ndim != 1:
        raise InputError("masks", f"{found.shape} and {true.shape}", "two lists of labels of one length")
    places = [np.unique(labels, return_inverse=True)[1] for labels in (found, true)]
    counts = np.zeros([place.max(initial=0) + 1 for place in places])
    np.add.at(counts, tuple(places), 1)
    together = _pairs(counts).sum()
    rows, columns = _pairs(counts.sum(axis=1)).sum(), _pairs(counts.sum(axis=0)).sum()
    if together == rows == columns:
        return 1.0
    expected = rows * columns / _pairs(np.array(float(len(found))))
    return float((together - expected) / (0.5 * (rows + columns) - expected))


def _pairs(n: np.ndarray) -> np.ndarray:
    return n * (n - 1) / 2


def mean_interval(
    values: Float[np.ndarray, " images"], *, level: float = 0.95, draws: int = 2000
) -> tuple[float, float]:
    """A bootstrap interval of the mean of any score that is given per image.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import mean_interval
    >>> low, high = mean_interval(np.arange(100.0))
    >>> low < 49.5 < high
    True

    ```
    """
    if values.ndim != 1 or not len(values):
        raise InputError("values", values.shape, "one number per image")
    chosen = np.random.default_rng(0).integers(len(values), size=(draws, len(values)))
    return quantiles(values[chosen].mean(axis=1), level)


def quantiles(values: np.ndarray, level: float) -> tuple[float, float]:
    """The middle `level` of the values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def reconstruction_error(
    found: Float[np.ndarray, "images ..."], true: Float[np.ndarray, "images ..."]
) -> Float[np.ndarray, " images"]:
    """The squared error of every image, summed over its pixels and channels (divide by their number for the mean)."""
    if found.shape != true.shape:
        raise InputError("found", found.shape, f"the shape of the true images, {true.shape}")
    return ((found - true) ** 2).reshape(len(true), -1).sum(axis=1)


@dataclass(frozen=True)
class SlotScores:
    """Scores of every image: they belong together, because each alone can be had for nothing.

    - `j_ari`: adjusted Rand index between the slot of the largest share and the true mask, on foreground pixels.
    - `jis`: the mean largest share of foreground pixels, scaled so that equal shares are 0 and a single slot is 1.
        A decoder that puts everything into one slot has 1 as well.
    - `active`: slots that win at least 1 % of the foreground or carry more than 1 nat.
    - `objects`: true objects that can be seen.
    """

    j_ari: Float[np.ndarray, " images"]
    jis: Float[np.ndarray, " images"]
    active: Int[np.ndarray, " images"]
    objects: Int[np.ndarray, " images"]

    def interval(self, name: str, *, level: float = 0.95) -> tuple[float, float]:
        """A bootstrap interval over images of the mean of a score."""
        return mean_interval(getattr(self, name), level=level)

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
    """J-ARI, JIS and the number of active slots, for every image.

    **Arguments:**

    - `sensitivity`: see the module; any scale.
    - `masks`: true labels, 0 for the background; images without foreground are left out.
    - `capacity`: the information of every slot in nats, if there is a posterior.
    - `counted`: leaves out further pixels, such as mirrors, which may well depend on what they show.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.slots import slot_scores
    >>> masks = np.array([[0, 0, 1, 1, 2, 2]])
    >>> print(slot_scores(np.eye(3)[masks], masks))
    J-ARI 1.00 [1.00, 1.00], JIS 1.00 [1.00, 1.00]; 2.0 active slots for 2.0 objects (1 images)

    ```
    """
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
    shown = masks > 0
    if counted is not None:
        if np.size(counted) != masks.size:
            raise InputError("counted", np.shape(counted), f"a value for each pixel of masks {masks.shape}")
        shown = shown & np.asarray(counted).reshape(masks.shape)
    rows = np.flatnonzero(shown.any(axis=1))
    if not len(rows):
        raise InputError("masks", "no pixel above 0", "labels with objects")
    shares = shares_of(sensitivity)
    winner = shares.argmax(axis=2)
    scores: dict[str, list[float]] = {"j_ari": [], "jis": [], "active": [], "objects": []}
    for row in rows:
        front = shown[row]
        wins = np.bincount(winner[row, front], minlength=slots) / front.sum()
        active = wins >= WINS
        if capacity is not None:
            active = active | (capacity[row] > NATS)
        largest = shares[row, front].max(axis=1).mean()
        scores["j_ari"].append(adjusted_rand_index(winner[row, front], masks[row, front]))
        scores["jis"].append((largest - 1 / slots) / (1 - 1 / slots))
        scores["active"].append(int(active.sum()))
        scores["objects"].append(len(np.unique(masks[row, front])))
    return SlotScores(**{name: np.array(values) for name, values in scores.items()})


def slots_of_objects(
    sensitivity: Float[np.ndarray, "images pixels slots"],
    masks: Int[np.ndarray, "images ..."],
    objects: int,
) -> Int[np.ndarray, "images objects"]:
    """Which slot holds which object, one to one: the assignment with the largest mean share on the objects' pixels.

    -1 for an object that cannot be seen. There must be as many slots as objects or more.
    """
    from scipy.optimize import linear_sum_assignment

    masks = np.asarray(masks).reshape(len(masks), -1)
    slots = sensitivity.shape[2]
    if objects > slots:
        raise InputError("slots", slots, f"at least as many as the {objects} objects")
    shares, found = shares_of(sensitivity), np.full((len(masks), objects), -1)
    for row, labels in enumerate(masks):
        seen = [number for number in range(objects) if (labels == number + 1).any()]
        if seen:
            gain = np.stack([shares[row, labels == number + 1].mean(axis=0) for number in seen])
            which, slot = linear_sum_assignment(-gain)
            found[row, np.array(seen)[which]] = slot
    return found
