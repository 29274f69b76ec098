"""Discovering slots: the partition of flat latents with the least interaction across its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.interaction.differences import difference_quotient
from recombine.metrics.interaction.energies import Energies, slot_energies
from recombine.metrics.interaction.measure import ROUNDING, curvature, unit_of_latents
from recombine.metrics.interaction.partitions import Labels, best_partitions
from recombine.metrics.interaction.profile import with_picture
from recombine.metrics.interaction.shares import share_of
from recombine.metrics.interaction.slot_partition import as_latents
from recombine.models import as_function
from recombine.models.function import Arrays
from recombine.report.document import Bullets, Document, Fact, Facts, Picture, Section
from recombine.report.interface import Report

if TYPE_CHECKING:
    from recombine.report.figures.style import Figure

_KINDS = ("the dependence of outputs on latents", "second derivatives", "third derivatives")
RANDOM_PARTITIONS = 200
"""Partitions drawn at random to compare with."""


@dataclass(frozen=True, eq=False, repr=False)
class Discovery(Report):
    """The best slots at one order of derivatives.

    `share` is the part of the derivatives of order `order` that crosses slots (q1 for order 1, r_m above), `second`
    that of the next best partition of the same sizes (NaN if there is none), and `random` the mean and the smallest
    share of random partitions of those sizes. `matrix` `(latents, latents)` says how strongly every two latents
    interact at that order.
    """

    slots: tuple[tuple[int, ...], ...]
    order: int
    share: float
    second: float
    random: tuple[float, float]
    threshold: float
    matrix: Float[np.ndarray, "latents latents"]
    notes: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Whether almost nothing crosses these slots, and less than for any other partition."""
        best = np.isnan(self.second) or self.share < self.second
        return len(self.slots) > 1 and self.share <= self.threshold and bool(best)

    @property
    def margin(self) -> float:
        """How much more crosses the second best partition."""
        return self.second - self.share

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "slots": [list(slot) for slot in self.slots],
            "found": self.found,
            "order": self.order,
            "share": self.share,
            "second": None if np.isnan(self.second) else self.second,
            "random": list(self.random),
            "threshold": self.threshold,
            "matrix": self.matrix.tolist(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        slots = " | ".join(" ".join(map(str, slot)) for slot in self.slots)
        return f"Discovery({slots}; {'found' if self.found else 'not found'}, share {self.share:.3g})"

    @property
    def verdict(self) -> str:
        """The slots in one sentence, or that there are none."""
        kind = _KINDS[self.order - 1]
        if len(self.slots) < 2:
            return f"No slots found: more than {self.threshold:g} of {kind} crosses every partition of the latents."
        shown = " | ".join(" ".join(map(str, slot)) for slot in self.slots)
        return f"{'Slots' if self.found else 'No clear slots; the best partition is'}: {shown}"

    def document(self) -> Document:
        """The slots, and how much interaction crosses them compared with other partitions."""
        sections = []
        if len(self.slots) > 1:
            facts = [
                Fact("these slots", f"{self.share:.3f}"),
                Fact("second best", "–" if np.isnan(self.second) else f"{self.second:.3f}"),
                Fact("random slots of these sizes", f"{self.random[0]:.3f} (at least {self.random[1]:.3f})"),
            ]
            sections.append(Section(f"Share of {_KINDS[self.order - 1]} that crosses slots", [Facts(facts)]))
        if self.notes:
            sections.append(Section("Notes", [Bullets(self.notes)]))
        return Document("Slots of a decoder", self.verdict, sections)

    def page(self) -> Document:
        """The document with its figure."""
        caption = (
            f"How strongly every two latents interact in {_KINDS[self.order - 1]}, relative to the strongest pair. "
            "Latents are sorted by slot; white lines separate slots."
        )
        picture = Picture("latents", self.figure(), caption, f"Matrix of latents. {self.verdict}")
        return with_picture(self.document(), picture)

    def figure(self) -> Figure:
        """How strongly every two latents interact, sorted by slot."""
        from recombine.metrics.interaction.interaction_figures import latents_figure

        title = (
            "Latents interact within slots only" if self.found else "Latents interact across every partition"
        )
        return latents_figure(self.matrix, self.slots, title=title)


def discover_slots(
    decoder: Any,
    latents: Any,
    n_slots: int | None = None,
    *,
    sizes: Sequence[int] | None = None,
    order: int | None = None,
    threshold: float = 0.05,
    samples: int = 32,
    step: float = 0.5,
    standardise: bool = True,
    batched: bool | None = None,
    framework: Arrays | None = None,
    seed: int = 0,
) -> Discovery:
    """The slots of a decoder of flat latents: the partition that the least interaction crosses.

    Squared derivatives of order m are summed for every set of latents; a partition cuts those sets that it does not
    keep together. Order 1 (which outputs depend on which latents), 2 and 3 are tried in turn until next to nothing is
    cut: for a decoder of order n across slots it is the derivatives of order n + 1 that show them.

    **Arguments:**

    - `n_slots`: how many slots of equal size; or
    - `sizes`: the sizes of the slots. Without both, the finest partition that cuts up to `threshold`.
    - `order`: of the derivatives, to try that one alone.
    - `threshold`: the share that may cross slots.
    - `samples`: at how many of the latents derivatives are taken.
    - the rest: see [`recombine.metrics.interaction.interaction_profile`][].

    ```python
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from recombine.metrics.interaction import discover_slots
    >>> def decoder(z):
    ...     return jnp.stack([z[0] * z[2] + z[1] ** 2, jnp.sin(z[1] + z[3]), z[0] ** 2])
    >>> discover_slots(decoder, np.random.default_rng(0).normal(size=(40, 4)), 2).slots
    ((0, 2), (1, 3))

    ```
    """
    rows = as_latents(latents)
    d = rows.shape[1]
    block_sizes = _sizes(n_slots, sizes, d)
    if order not in (None, 1, 2, 3):
        raise InputError("order", order, "1, 2 or 3")
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    scale = unit_of_latents(rows, notes) if standardise else np.ones(d)
    rows = rows[rng.permutation(len(rows))[:samples]]
    function = as_function(decoder, rows, batched=batched, framework=framework, field="decoder")
    notes.extend(function.notes)
    rough = function.derivative is None
    if function.derivative is not None:
        smooth, kinks = curvature(function, rows, scale, step, rng)
        rough = kinks > 0 and smooth <= 0
    derivative = difference_quotient(function.values, step) if rough else function.derivative
    assert derivative is not None
    if rough:
        notes.append("differences instead of derivatives: the decoder is piecewise linear or a black box")
    outputs = function.values(rows)
    singles = tuple(np.array([i]) for i in range(d))
    tried = []
    for m in (order,) if order else (1, 2, 3):
        energies = slot_energies(derivative, rows, singles, m, outputs=outputs.shape[1], scale=scale)
        size = float((outputs**2).sum(axis=1).mean() + energies.within.sum())
        if float(energies.values.mean(axis=0).sum()) <= (ROUNDING * function.eps) ** 2 * size:
            continue
        tried.append(_discover(energies, block_sizes, d, threshold, rng, notes))
        if tried[-1].found:
            break
    if not tried:
        raise InputError("decoder", "no derivatives of the orders tried", "a decoder whose latents interact")
    return min(tried, key=lambda one: (not one.found, one.share / max(one.random[0], 1e-300)))


def _sizes(n_slots: int | None, sizes: Sequence[int] | None, d: int) -> tuple[int, ...] | None:
    if n_slots is not None and sizes is not None:
        raise InputError("sizes", list(sizes), "either n_slots or sizes, not both")
    if n_slots is not None:
        if not 2 <= n_slots <= d or d % n_slots:
            raise InputError("n_slots", n_slots, f"a number that divides {d} latents, or sizes=")
        return (d // n_slots,) * n_slots
    if sizes is None:
        return None
    if len(sizes) < 2 or min(sizes) < 1 or sum(sizes) != d:
        raise InputError("sizes", list(sizes), f"two or more sizes that add up to {d} latents")
    return tuple(int(size) for size in sizes)


def _discover(
    energies: Energies,
    sizes: tuple[int, ...] | None,
    d: int,
    threshold: float,
    rng: np.random.Generator,
    notes: list[str],
) -> Discovery:
    sets, mean = np.array(energies.sets), energies.values.mean(axis=(0, 1))
    total = mean.sum()

    def cost(labels: Labels) -> float:
        return float(mean[(labels[sets] != labels[sets[:, :1]]).any(axis=1)].sum() / total)

    def share(cut: float, slots: int) -> float:
        return float(share_of(cut, 1.0, energies.order, slots))

    matrix = np.zeros((d, d))
    for chosen, energy in zip(energies.sets, mean, strict=True):
        members = sorted(set(chosen))
        for i in members:
            for j in members:
                if (i == j) == (len(members) == 1):
                    matrix[i, j] += energy
    if sizes is None:
        labels = _finest(matrix, cost, share, threshold)
        sizes = tuple(int(n) for n in np.bincount(labels))
        if len(sizes) < 2:
            return Discovery(
                (tuple(range(d)),), energies.order, 0.0, np.nan, (0.0, 0.0), threshold, matrix, tuple(notes)
            )
    ranked = best_partitions(cost, sizes, matrix, rng)
    best = np.array(ranked[0][1])
    second = share(ranked[1][0], len(sizes)) if len(ranked) > 1 else np.nan
    drawn = [rng.permutation(np.repeat(np.arange(len(sizes)), sizes)) for _ in range(RANDOM_PARTITIONS)]
    random = [share(cost(labels), len(sizes)) for labels in drawn]
    return Discovery(
        tuple(tuple(int(i) for i in np.flatnonzero(best == label)) for label in range(len(sizes))),
        energies.order,
        share(ranked[0][0], len(sizes)),
        second,
        (float(np.mean(random)), float(np.min(random))),
        threshold,
        matrix,
        tuple(notes),
    )


def _finest(matrix: np.ndarray, cost: Any, share: Any, threshold: float) -> Labels:
    """Merges, one pair of blocks at a time, those that interact most for their size, until little is cut."""
    labels = np.arange(len(matrix))
    while labels.max() > 0 and share(cost(labels), labels.max() + 1) > threshold:
        blocks = np.eye(labels.max() + 1)[labels]
        between = blocks.T @ matrix @ blocks / np.outer(blocks.sum(axis=0), blocks.sum(axis=0))
        i, j = np.unravel_index(int(np.triu(between, 1).argmax()), between.shape)
        labels = np.unique(np.where(labels == max(i, j), min(i, j), labels), return_inverse=True)[1]
    return labels
