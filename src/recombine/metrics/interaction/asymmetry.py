"""Does a decoder satisfy interaction asymmetry? The conditions of the theorem, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.metrics.interaction.derivative_tensors import tensors_at
from recombine.metrics.interaction.differences import difference_quotient
from recombine.metrics.interaction.independence import Independence, sufficient_independence
from recombine.metrics.interaction.measure import interaction_profile
from recombine.metrics.interaction.profile import InteractionProfile, with_picture
from recombine.metrics.interaction.slot_partition import as_latents, as_slots
from recombine.metrics.interaction.splitting import Splitting
from recombine.metrics.interaction.within import parts_of
from recombine.models import as_function
from recombine.report.document import Bullets, Document, Fact, Facts, Section
from recombine.report.interface import Report

if TYPE_CHECKING:
    from recombine.report.figures.style import Figure

ALLOWED = {
    0: "every output depends on one slot",
    1: "effects add up",
    2: "latents interact in products of two at most",
}
LIMITS = ("one slot per output", "a sum over slots", "sums and products of two slots")
ORDINALS = ("first", "second", "third")
EXACT_TOLERANCE, SINGLE_TOLERANCE, DIFFERENCE_TOLERANCE = 1e-8, 1e-3, 0.03
"""Shares of the largest value that count as zero, so that rounding is not taken for interaction: for derivatives in
float64 and in float32, and for differences."""


@dataclass(frozen=True)
class Level:
    """Both conditions beyond the profile, for one order n, at several points.

    `slots[k]` are the tests of slot k, `independence` those of the ranks, point by point.
    """

    order: int
    slots: tuple[tuple[Splitting, ...], ...]
    independence: tuple[Independence, ...]

    @property
    def whole(self) -> bool:
        """Whether no slot can be split at any point."""
        return all(part.holds for slot in self.slots for part in slot)

    @property
    def independent(self) -> bool:
        """Whether ranks add up at every point."""
        return all(ranks.holds for ranks in self.independence)

    @property
    def holds(self) -> bool:
        """Both."""
        return self.whole and self.independent

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "order": self.order,
            "whole": self.whole,
            "independent": self.independent,
            "slots": [[part.to_dict() for part in slot] for slot in self.slots],
            "independence": [ranks.to_dict() for ranks in self.independence],
        }


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetryReport(Report):
    """Whether interaction within slots is of higher order than across slots, of which order, and what fails.

    `order` is the n for which all conditions hold, `None` if there is none among 0, 1 and 2. `levels` holds the tests
    of every n that was tried, from the order across slots upwards.
    """

    profile: InteractionProfile
    levels: tuple[Level, ...]
    order: int | None
    exact: bool

    def __repr__(self) -> str:
        return f"AsymmetryReport({f'holds with n = {self.order}' if self.holds else 'does not hold'}, {self.profile!r})"

    @property
    def holds(self) -> bool:
        """Whether interaction asymmetry and sufficient independence both hold at the points tested."""
        return self.order is not None

    @property
    def failures(self) -> tuple[str, ...]:
        """What fails at the order of interaction across slots, in words; empty if it holds."""
        if self.holds:
            return ()
        if not self.levels:
            last = self.profile.shares[-1]
            return (
                f"slots interact beyond second order ({last.name} = {last.value:.2f}), which the theory does not cover",
            )
        return _failures(self.levels[0])

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.order is not None:
            allowed, nth = ALLOWED[self.order], ORDINALS[self.order]
            return (
                f"Interaction asymmetry holds with n = {self.order}: across slots {allowed}, "
                f"and no slot can be split by its {nth} derivatives."
            )
        if self.levels and self.levels[0].whole:
            return (
                f"Interaction is asymmetric with n = {self.levels[0].order}, but sufficient independence fails: "
                f"{self.failures[0]}."
            )
        return f"Interaction asymmetry does not hold: {'; '.join(self.failures)}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "holds": self.holds,
            "order": self.order,
            "verdict": self.verdict,
            "failures": list(self.failures),
            "profile": self.profile.to_dict(),
            "levels": [level.to_dict() for level in self.levels],
        }

    def document(self) -> Document:
        """The verdict, the conditions one by one, and what they mean."""
        shares = ", ".join(str(share) for share in self.profile.shares)
        facts = [Fact("across slots", f"order {self.profile.order_word}: {shares}")]
        for level in self.levels:
            if level is self.levels[0] or level.order == self.order:
                facts += _level_facts(level, self.exact)
        sections = [Section("Conditions", [Facts(facts)]), Section("What it means", [self._meaning()])]
        if self.profile.notes:
            sections.append(Section("Notes", [Bullets(self.profile.notes)]))
        return Document("Interaction asymmetry", self.verdict, sections)

    def page(self) -> Document:
        """The document with its figure."""
        (picture,) = self.profile.page().pictures()
        return with_picture(self.document(), picture)

    def figure(self) -> Figure:
        """The share of derivatives across slots, order by order."""
        return self.profile.figure()

    def _meaning(self) -> str:
        if self.order is not None:
            return (
                f"If this holds at all latents, an invertible decoder limited to {LIMITS[self.order]} that fits the "
                "same data finds these slots, and generalises to new combinations of them (Theorem 4.3)."
            )
        return (
            "The theorem does not apply: other partitions of the latents may produce the same data with no more "
            "interaction, so a model that fits the data need not find these slots."
        )


def asymmetry_report(
    decoder: Any,
    latents: Any,
    slots: int | Sequence[Sequence[int]],
    *,
    points: int = 5,
    tolerance: float | None = None,
    step: float = 0.5,
    seed: int = 0,
    **settings: Any,
) -> AsymmetryReport:
    """Tests interaction asymmetry and sufficient independence of a decoder.

    The order n across slots comes from [`recombine.metrics.interaction.interaction_profile`][]. Then, at some of the
    latents, every slot is tested for a split at order n + 1 and the ranks of sufficient independence are compared. As
    interaction of order n is also of order n + 1, higher n are tried where those fail.

    **Arguments:**

    - `decoder`, `latents`, `slots`, `step`, `seed` and `settings`: those of `interaction_profile`.
    - `points`: at how many of the latents the conditions within slots are tested; the theory requires all.
    - `tolerance`: share of the largest value up to which a number counts as zero; by default 1e-8 for derivatives in
        float64, 1e-3 in float32 and 0.03 for differences, so that rounding does not count as interaction.

    ```python
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from recombine.metrics.interaction import asymmetry_report
    >>> def decoder(z):
    ...     a, b = z[:2], z[2:]
    ...     own = [jnp.stack([s[0] * s[1], s[0] ** 2, s[1] ** 2 + s[0]]) for s in (a, b)]
    ...     return jnp.concatenate([*own, z, own[0] + own[1] ** 2])
    >>> report = asymmetry_report(decoder, np.random.default_rng(0).normal(size=(20, 4)), 2)
    >>> report.holds, report.order, report.verdict.split(":")[0]
    (True, 1, 'Interaction asymmetry holds with n = 1')

    ```
    """
    rows = as_latents(latents)
    parts = as_slots(slots, rows.shape[1])
    if points < 1:
        raise InputError("points", points, "a positive number")
    if settings.pop("max_order", 3) != 3:
        raise InputError("max_order", "another value", "3: the theory covers orders 0, 1 and 2")
    profile = interaction_profile(decoder, rows, slots, max_order=3, step=step, seed=seed, **settings)
    function = as_function(
        decoder,
        rows,
        **{key: settings[key] for key in ("framework", "batched", "precision", "chunk") if key in settings},
        field="decoder",
    )
    exact = profile.method != "differences"
    if tolerance is None:
        tolerance = DIFFERENCE_TOLERANCE
        if exact:
            tolerance = EXACT_TOLERANCE if function.eps < 1e-10 else SINGLE_TOLERANCE
    derivative = function.derivative if exact else difference_quotient(function.values, step)
    assert derivative is not None
    chosen = rows[np.random.default_rng(seed).permutation(len(rows))[:points]]
    levels: list[Level] = []
    for order in range(3 if profile.order is None else profile.order, 3):
        tests, ranks = [], []
        for z in chosen:
            tensors = tensors_at(derivative, z, order + 1, profile.scale)
            tests.append(parts_of(_floored(tensors, tolerance), parts, tolerance))
            ranks.append(sufficient_independence(tensors, profile.slots, tolerance=tolerance))
        levels.append(Level(order, tuple(zip(*tests, strict=True)), tuple(ranks)))
        if levels[-1].holds:
            break
    holding = levels[-1].order if levels and levels[-1].holds else None
    return AsymmetryReport(profile, tuple(levels), holding, exact)


def _floored(tensors: Sequence[np.ndarray], tolerance: float) -> np.ndarray:
    """The highest derivatives, set to zero where they are rounding errors compared with the lower ones."""
    largest = max(float(np.abs(tensor).max()) for tensor in tensors)
    return np.where(np.abs(tensors[-1]) > tolerance * 1e-3 * largest, tensors[-1], 0.0)


def _failures(level: Level) -> tuple[str, ...]:
    failures = []
    nth = ORDINALS[level.order]
    for number, slot in enumerate(level.slots):
        bad = [part for part in slot if not part.holds]
        if bad:
            worst = bad[0]
            if worst.parts == 0:
                what = f"has no {nth} derivatives"
            elif worst.parts is None:
                what = f"allows {worst.dimension - 1} more linear symmetries than a slot that cannot be split"
            else:
                what = f"can be split into {worst.parts} parts by its {nth} derivatives"
            where = "" if len(bad) == len(slot) else f" at {len(bad)} of {len(slot)} points"
            failures.append(f"slot {number} {what}{where}")
    if not level.independent:
        bad_ranks = [ranks for ranks in level.independence if not ranks.holds]
        short = bad_ranks[0].outputs < bad_ranks[0].outputs_needed
        why = (
            f" ({bad_ranks[0].outputs} outputs; at least {bad_ranks[0].outputs_needed} are needed)"
            if short
            else ""
        )
        failures.append(f"the slots' {nth} derivatives are not independent: {bad_ranks[0]}{why}")
    return tuple(failures)


def _level_facts(level: Level, exact: bool) -> list[Fact]:
    points = len(level.independence)
    whole = sum(all(part.holds for part in slot) for slot in level.slots)
    kept = min(part.kept for slot in level.slots for part in slot)
    ranks = next((r for r in level.independence if not r.holds), level.independence[0])
    kind = "derivatives" if exact else "differences"
    nth = ORDINALS[level.order]
    within = (
        f"{whole} of {len(level.slots)} slots cannot be split by {nth} {kind} at {points} points "
        f"(weakest link {kept:.1g})"
    )
    singular = f"smallest singular value kept {ranks.kept:.1g}, largest dropped {ranks.dropped:.1g}"
    return [Fact("within slots", within), Fact("independence", f"{ranks} ({singular})")]
