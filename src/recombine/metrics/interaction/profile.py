"""The interaction profile of a decoder: how strongly its slots interact, order by order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.interaction.energies import Energies
from recombine.metrics.interaction.shares import Share, plain_value, share_of
from recombine.report.document import Bullets, Column, Document, Picture, Row, Section, Table
from recombine.report.interface import Report

if TYPE_CHECKING:
    from recombine.report.figures.style import Figure

ORDINALS = {2: "second", 3: "third", 4: "fourth"}
RARE = 0.005
"""Orders that fewer resamples than this give are not mentioned."""


def with_picture(document: Document, picture: Picture) -> Document:
    """The document with a picture below its lead. (`str` does without it, because drawing takes a second.)"""
    return replace(document, sections=[Section("", [picture]), *document.sections])


@dataclass(frozen=True, eq=False, repr=False)
class InteractionProfile(Report):
    """How much of every derivative of a decoder lies across slots.

    `shares[0]` is q1, `shares[m - 1]` is r_m. `order` is the estimated order of interaction: the smallest n with
    q1 (n = 0) or r_{n+1} up to `threshold`, `None` if there is none among those measured. `order_chances[n]` is the
    share of resamples of the latents that give order n; the last entry is that of "more than measured".
    """

    method: str
    slots: tuple[tuple[int, ...], ...]
    samples: int
    probes: int | None
    threshold: float
    shares: tuple[Share, ...]
    order: int | None
    order_chances: tuple[float, ...]
    energies: tuple[Energies, ...]
    output_shape: tuple[int, ...]
    scale: Float[np.ndarray, " latents"]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        values = ", ".join(f"{share.name}={share.value:.3g}" for share in self.shares)
        return f"InteractionProfile(order {self.order_word}: {values}; {len(self.slots)} slots)"

    @property
    def q1(self) -> float:
        """How evenly outputs depend on several slots: 0 if each depends on one slot, 1 if on all slots alike."""
        return self.share(1).value

    @property
    def r2(self) -> float:
        """The share of second derivatives across slots; 0 for additive decoders."""
        return self.share(2).value

    @property
    def r3(self) -> float:
        """The share of third derivatives across slots; 0 if slots interact by products of two latents at most."""
        return self.share(3).value

    @property
    def r4(self) -> float:
        """The share of fourth derivatives across slots."""
        return self.share(4).value

    def share(self, order: int) -> Share:
        """The share of derivatives of that order, with its uncertainty."""
        if not 1 <= order <= len(self.shares):
            raise InputError("order", order, f"from 1 to {len(self.shares)}, the max_order of this profile")
        return self.shares[order - 1]

    def pairs(self, order: int = 2) -> Float[np.ndarray, "slots slots"]:
        """How the energy of order 1 or 2 is distributed over pairs of slots; symmetric, all entries add up to 1.

        Order 2: ‖D²_jk f‖² over ‖D² f‖². Order 1: Σ_l s_lj s_lk over Σ_l (Σ_k s_lk)².
        """
        if order not in (1, 2):
            raise InputError("order", order, "1 or 2: derivatives of higher order involve more than a pair")
        self.share(order)
        energies, K = self.energies[order - 1], len(self.slots)
        mean = energies.values.mean(axis=(0, 1))
        matrix = np.zeros((K, K))
        for (j, k), energy in zip(energies.sets, mean, strict=True):
            matrix[j, k] += energy / 2
            matrix[k, j] += energy / 2
        return matrix / mean.sum() if mean.sum() > 0 else np.full((K, K), np.nan)

    def sets(self, order: int) -> dict[tuple[int, ...], float]:
        """The share of the energy of an order in every set of slots; they add up to 1."""
        self.share(order)
        energies = self.energies[order - 1]
        mean = energies.values.mean(axis=(0, 1))
        return {s: float(e / mean.sum()) for s, e in zip(energies.sets, mean, strict=True)}

    def cross_map(self, order: int) -> Float[np.ndarray, ...]:
        """Which outputs carry the interaction: the cross energy of every output, in the shape of an output."""
        self.share(order)
        return self.energies[order - 1].cross.reshape(self.output_shape)

    def share_map(self, order: int) -> Float[np.ndarray, ...]:
        """The share q1 or r_m of every output by itself; NaN where an output has no derivatives of that order."""
        self.share(order)
        energies = self.energies[order - 1]
        shares = share_of(energies.cross, energies.cross + energies.within, order, len(self.slots))
        return shares.reshape(self.output_shape)

    @property
    def order_word(self) -> str:
        """The estimated order in words."""
        return f"more than {len(self.shares) - 1}" if self.order is None else str(self.order)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        pairs = {
            f"pairs{order}": [[plain_value(v) for v in row] for row in self.pairs(order)]
            for order in (1, 2)
            if order <= len(self.shares)
        }
        return {
            "method": self.method,
            "slots": [list(slot) for slot in self.slots],
            "samples": self.samples,
            "probes": self.probes,
            "threshold": self.threshold,
            "order": self.order,
            "order_word": self.order_word,
            "order_chances": [float(chance) for chance in self.order_chances],
            "shares": {share.name: share.to_dict() for share in self.shares},
            **pairs,
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """The order, the share of every order with its interval and meaning, and notes."""
        sizes = " + ".join(str(len(slot)) for slot in self.slots)
        plural = "s" if self.samples > 1 else ""
        how = self.method if self.probes is None else f"{self.method}, {self.probes} directions each"
        rows = [
            Row([share.name, share.text, self._meaning(order, share)])
            for order, share in enumerate(self.shares, start=1)
        ]
        shares = Table([Column(""), Column("share across slots"), Column("meaning")], rows)
        heading = f"{len(self.slots)} slots of {sizes} latents, {self.samples} sample{plural} ({how})"
        strongest = self._strongest_pair()
        sections = [Section(heading, [shares, *([strongest] if strongest else [])])]
        if self.notes:
            sections.append(Section("Notes", [Bullets(self.notes)]))
        return Document(
            "Interaction profile",
            f"Interaction order across slots: {self.order_word}{self._chances()}",
            sections,
        )

    def figure(self) -> Figure:
        """The share of every order with its interval."""
        from recombine.metrics.interaction.interaction_figures import shares_figure

        title = f"Interaction across slots has order {self.order_word}"
        return shares_figure(self.shares, self.threshold, title=title)

    def page(self) -> Document:
        """The document with its figure."""
        caption = (
            "How much of the derivatives of each order crosses slots (q1: how evenly outputs depend on several slots). "
            "Bars cover 95% of resamples of the latents."
        )
        alt = f"Shares by order: {'; '.join(str(share) for share in self.shares)}."
        return with_picture(self.document(), Picture("shares", self.figure(), caption, alt))

    def _strongest_pair(self) -> str:
        if len(self.shares) < 2 or len(self.slots) < 3 or not self.shares[1].cross > 0:
            return ""
        pairs = np.triu(self.pairs(2), 1)
        j, k = np.unravel_index(int(pairs.argmax()), pairs.shape)
        percentage = 100 * pairs[j, k] / pairs.sum()
        return f"strongest pair: slots {j} and {k}, {percentage:.0f}% of the interaction across slots"

    def _chances(self) -> str:
        if self.samples < 2:
            return ""
        estimate = len(self.shares) if self.order is None else self.order
        others = [
            f"{'more' if n == len(self.shares) else n} in {100 * chance:.0f}%"
            for n, chance in enumerate(self.order_chances)
            if n != estimate and chance >= RARE
        ]
        return f" ({'; '.join([f'in {100 * self.order_chances[estimate]:.0f}% of resamples', *others])})"

    def _meaning(self, order: int, share: Share) -> str:
        if order == 1:
            text = "outputs depend on more than one slot"
        else:
            kind = "differences" if self.method == "differences" else "derivatives"
            text = f"of {ORDINALS[order]} {kind} cross slots"
            if np.isnan(share.value):
                return f"there are no {ORDINALS[order]} {kind}"
        return f"{text}; counts as none" if self.order is not None and order > self.order else text
