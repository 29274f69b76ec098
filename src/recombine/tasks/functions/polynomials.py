"""Generators whose slots interact up to a given order.

Slots have at most n-th order interaction exactly if the generator is a sum of functions of one slot each and of
monomials of degree 2 to n with latents of several slots (Brady et al. 2025, arXiv 2411.07784, equation 4.2). With n = 1
it is additive; with n = 0, moreover, every output depends on one slot alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.tasks.draws import generator

SlotFunctions = Literal["sine", "exponential", "polynomial"]
UNITS = 8
"""Sines or exponentials of a slot, for each of its latents."""
SCALED_ON = 4096
"""Random latents on which outputs are scaled to mean 0 and variance 1."""


@dataclass(frozen=True, eq=False)
class Monomials:
    """Products of latents.

    **Attributes:**

    - `factors`: `(terms, degree)` numbers of the latents in each product; the number of latents itself stands for 1.
    """

    factors: Int[np.ndarray, "terms degree"]

    def __call__(self, z: Float[Any, "*n latents"]) -> Float[Any, "*n terms"]:
        """The value of every product."""
        with_one = z.__array_namespace__().concat([z, 0 * z[..., :1] + 1], axis=-1)
        product = with_one[..., self.factors[:, 0]]
        for column in self.factors.T[1:]:
            product = product * with_one[..., column]
        return product


@dataclass(frozen=True, eq=False)
class Waves:
    """Sines or exponentials of random mixtures of latents: their latents interact at every order."""

    mixtures: Float[np.ndarray, "latents units"]
    phases: Float[np.ndarray, " units"]
    kind: SlotFunctions

    def __call__(self, z: Float[Any, "*n latents"]) -> Float[Any, "*n units"]:
        """The value of every unit."""
        xp, mixed = z.__array_namespace__(), z @ self.mixtures + self.phases
        return xp.sin(mixed) if self.kind == "sine" else xp.exp(mixed / 2)


@dataclass(frozen=True, eq=False)
class PolynomialDecoder:
    """A generator from latents to outputs with known slots and known order of interaction between them.

    It takes NumPy or JAX arrays `(..., latents)`, also while JAX traces or differentiates them, and any other array
    that follows the array API standard.

    **Attributes:**

    - `slots`: the latents of every slot; `order`: n, the highest order of interaction between slots.
    - `inside`: for every slot its functions, and `weights` from them to outputs.
    - `across`: monomials over several slots with their `couplings` to outputs; `None` below order 2.
    - `offset`: makes outputs have mean 0 on latents that are uniform in [-1, 1].

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import polynomial_decoder
    >>> decoder = polynomial_decoder((2, 3), outputs=20, order=2)
    >>> decoder, decoder(np.zeros((7, 5))).shape
    (PolynomialDecoder(slots of 2, 3 to 20 outputs, order 2), (7, 20))

    ```
    """

    slots: tuple[tuple[int, ...], ...]
    order: int
    inside: tuple[Waves | Monomials, ...]
    weights: tuple[Float[np.ndarray, "units outputs"], ...]
    across: Monomials | None
    couplings: Float[np.ndarray, "terms outputs"] | None
    offset: Float[np.ndarray, " outputs"]

    def __call__(self, z: Float[Any, "*n latents"]) -> Float[Any, "*n outputs"]:
        """The outputs."""
        total = sum(
            functions(z[..., np.array(slot)]) @ weights
            for slot, functions, weights in zip(self.slots, self.inside, self.weights, strict=True)
        )
        if self.across is not None:
            total = total + self.across(z) @ self.couplings
        return total + self.offset

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(slot)) for slot in self.slots)
        return f"PolynomialDecoder(slots of {sizes} to {len(self.offset)} outputs, order {self.order})"


def polynomial_decoder(
    slots: Sequence[int] = (2, 2),
    *,
    outputs: int = 20,
    order: int = 1,
    functions: SlotFunctions = "sine",
    coupling: float = 1.0,
    seed: int = 0,
) -> PolynomialDecoder:
    """A random generator of at most `order`-th order interaction between slots, and of more inside slots.

    On latents that are uniform in [-1, 1] an output has a mean of 0, and the part that is a sum over slots has a mean
    variance of 1.

    **Arguments:**

    - `slots`: the number of latents of every slot.
    - `order`: n. At 0 each output belongs to one slot.
    - `functions`: of a slot: `"sine"` or `"exponential"` of random mixtures of its latents, or `"polynomial"`, all its
        monomials up to degree n + 1 (at least 2).
    - `coupling`: the standard deviation of the monomials of each degree across slots, relative to the rest.
    """
    slots = tuple(slots)
    if not slots or min(slots) < 1:
        raise InputError("slots", slots, "numbers of latents, at least 1 each")
    if order < 0:
        raise InputError("order", order, "0 or more")
    if outputs < max(sum(slots), 1):
        raise InputError("outputs", outputs, f"at least the {sum(slots)} latents")
    if functions not in get_args(SlotFunctions):
        raise InputError("functions", functions, f"one of {', '.join(get_args(SlotFunctions))}")
    if not coupling > 0:
        raise InputError("coupling", coupling, "a positive number")
    rng = generator(seed)
    ends = np.cumsum(slots)
    members = tuple(tuple(range(end - size, end)) for size, end in zip(slots, ends.tolist(), strict=True))
    inside = tuple(_slot_functions(size, order, functions, rng) for size in slots)
    z = rng.uniform(-1, 1, size=(SCALED_ON, sum(slots)))
    owned = np.arange(outputs) % len(slots) if order == 0 else None
    weights = [_spread(f(z[:, list(m)]), outputs, rng) for f, m in zip(inside, members, strict=True)]
    if owned is not None:
        weights = [matrix * (owned == number) for number, matrix in enumerate(weights)]
    rest = sum(f(z[:, list(m)]) @ w for f, m, w in zip(inside, members, weights, strict=True))
    scale = np.sqrt(np.var(rest, axis=0).mean())
    across = _across(members, order)
    couplings = None if across is None else _couplings(across, z, outputs, coupling, rng)
    draft = PolynomialDecoder(
        members, order, inside, tuple(w / scale for w in weights), across, couplings, np.zeros(outputs)
    )
    return PolynomialDecoder(
        members, order, inside, draft.weights, across, couplings, offset=-draft(z).mean(axis=0)
    )


def _slot_functions(
    size: int, order: int, functions: SlotFunctions, rng: np.random.Generator
) -> Waves | Monomials:
    if functions == "polynomial":
        return _monomials(range(size), range(1, max(order + 1, 2) + 1), size)
    units = UNITS * size
    return Waves(rng.normal(scale=1.5, size=(size, units)), rng.uniform(0, 2 * np.pi, size=units), functions)


def _monomials(latents: Sequence[int], degrees: range, one: int) -> Monomials:
    terms = [t for degree in degrees for t in combinations_with_replacement(latents, degree)]
    return _padded(terms, degrees[-1], one)


def _padded(terms: Sequence[tuple[int, ...]], degree: int, one: int) -> Monomials:
    return Monomials(np.array([(*term, *[one] * (degree - len(term))) for term in terms]))


def _across(members: tuple[tuple[int, ...], ...], order: int) -> Monomials | None:
    """All monomials of degree 2 to `order` with latents of at least two slots."""
    slot_of = {latent: number for number, slot in enumerate(members) for latent in slot}
    terms = [
        term
        for degree in range(2, order + 1)
        for term in combinations_with_replacement(slot_of, degree)
        if len({slot_of[latent] for latent in term}) > 1
    ]
    return _padded(terms, order, len(slot_of)) if terms else None


def _couplings(
    across: Monomials,
    z: Float[np.ndarray, "n latents"],
    outputs: int,
    coupling: float,
    rng: np.random.Generator,
) -> Float[np.ndarray, "terms outputs"]:
    """Random coefficients such that the terms of every degree have the same variance."""
    values, coefficients = across(z), rng.normal(size=(len(across.factors), outputs))
    degree = (across.factors < z.shape[1]).sum(axis=1)
    for one in np.unique(degree):
        rows = degree == one
        coefficients[rows] *= coupling / np.sqrt(np.var(values[:, rows] @ coefficients[rows], axis=0).mean())
    return coefficients


def _spread(
    values: Float[np.ndarray, "n units"], outputs: int, rng: np.random.Generator
) -> Float[np.ndarray, "units outputs"]:
    """Random weights that give every unit the same share of the variance."""
    return rng.normal(size=(values.shape[1], outputs)) / values.std(axis=0)[:, None]
