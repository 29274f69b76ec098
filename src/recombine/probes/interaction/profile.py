"""The interaction profile of a decoder: how strongly its slots interact, order by order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.probes.interaction.energies import Energies
from recombine.probes.interaction.shares import Share, plain_number, share_of

ORDINALS = {2: "second", 3: "third", 4: "fourth"}


@dataclass(frozen=True, eq=False, repr=False)
class InteractionProfile:
    """How much of every derivative of a decoder lies across slots.

    `shares[0]` is q1, `shares[m - 1]` is r_m. `order` is the estimated order of interaction: the smallest n with
    q1 (n = 0) or r_{n+1} up to `threshold`, `None` if there is none among those measured. `order_chances[n]` is the
    share of resamples of the latents that give order n, the last entry that of "more than measured".
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

    @property
    def q1(self) -> float:
        """How evenly outputs depend on several slots: 0 each on one slot, 1 all slots alike."""
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
        """How the energy of order 1 or 2 spreads over pairs of slots; symmetric, all entries add up to 1.

        Order 2: ‖D²_jk f‖² over ‖D² f‖². Order 1: Σ_l s_lj s_lk over Σ_l (Σ_k s_lk)².
        """
        if order not in (1, 2):
            raise InputError("order", order, "1 or 2: derivatives of higher order touch more than a pair")
        self.share(order)
        energies, K = self.energies[order - 1], len(self.slots)
        mean = energies.values.mean(axis=(0, 1))
        found = np.zeros((K, K))
        for (j, k), energy in zip(energies.sets, mean, strict=True):
            found[j, k] += energy / 2
            found[k, j] += energy / 2
        return found / mean.sum() if mean.sum() > 0 else np.full((K, K), np.nan)

    def sets(self, order: int) -> dict[tuple[int, ...], float]:
        """The share of the energy of an order in every set of slots; they add up to 1."""
        self.share(order)
        energies = self.energies[order - 1]
        mean = energies.values.mean(axis=(0, 1))
        return {s: float(e / mean.sum()) for s, e in zip(energies.sets, mean, strict=True)}

    def cross_map(self, order: int) -> Float[np.ndarray, ...]:
        """Which outputs carry the interaction: cross energy of every output, in the shape of an output."""
        self.share(order)
        return self.energies[order - 1].cross.reshape(self.output_shape)

    def share_map(self, order: int) -> Float[np.ndarray, ...]:
        """The share q1 or r_m of every output by itself; NaN where an output has no derivatives of that order."""
        self.share(order)
        energies = self.energies[order - 1]
        found = share_of(energies.cross, energies.cross + energies.within, order, len(self.slots))
        return found.reshape(self.output_shape)

    @property
    def order_word(self) -> str:
        """The estimated order in words."""
        return f"more than {len(self.shares) - 1}" if self.order is None else str(self.order)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        pairs = {
            f"pairs{order}": [[plain_number(v) for v in row] for row in self.pairs(order)]
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

    def __str__(self) -> str:
        sizes = " + ".join(str(len(slot)) for slot in self.slots)
        plural = "s" if self.samples > 1 else ""
        how = self.method if self.probes is None else f"{self.method}, {self.probes} directions each"
        lines = [
            f"Interaction order across slots: {self.order_word}{self._chance()}",
            "",
            f"{len(self.slots)} slots of {sizes} latents, {self.samples} sample{plural} ({how})",
        ]
        for order, share in enumerate(self.shares, start=1):
            lines.append(f"  {share!s:<26} {self._meaning(order, share)}")
        if len(self.shares) > 1 and len(self.slots) > 2 and self.shares[1].cross > 0:
            pairs = np.triu(self.pairs(2), 1)
            j, k = np.unravel_index(int(pairs.argmax()), pairs.shape)
            lines.append(
                f"  strongest pair: slots {j} and {k}, {100 * pairs[j, k] / pairs.sum():.0f} % of what crosses"
            )
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__

    def _chance(self) -> str:
        place = len(self.shares) if self.order is None else self.order
        if self.samples < 2:
            return ""
        others = [
            f"{'more' if n == len(self.shares) else n} in {100 * chance:.0f} %"
            for n, chance in enumerate(self.order_chances)
            if n != place and chance >= 0.005
        ]
        return f" ({'; '.join([f'in {100 * self.order_chances[place]:.0f} % of resamples', *others])})"

    def _meaning(self, order: int, share: Share) -> str:
        if order == 1:
            text = "outputs depend on more than one slot"
        else:
            kind = "differences" if self.method == "differences" else "derivatives"
            text = f"of {ORDINALS[order]} {kind} cross slots"
            if np.isnan(share.value):
                return f"there are no {ORDINALS[order]} {kind}"
        return f"{text}; counts as none" if self.order is not None and order > self.order else text
