"""Measuring the interaction profile of any decoder: the choice of method, and the notes about it."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, Literal, get_args

import numpy as np

from recombine.errors import InputError
from recombine.intervals import resample_counts
from recombine.metrics.interaction.differences import difference_quotient
from recombine.metrics.interaction.energies import Derivative, slot_energies
from recombine.metrics.interaction.profile import InteractionProfile
from recombine.metrics.interaction.shares import estimated_orders, summarise_share
from recombine.metrics.interaction.slot_partition import as_latents, as_slots
from recombine.models import ModelFunction, as_function
from recombine.models.function import Arrays, Precision

Method = Literal["auto", "exact", "probes", "differences"]
MAX_EXACT = 200
"""Partial derivatives per sample up to which "auto" takes them all; above, random directions are cheaper."""
CURVATURE_PAIRS = 64
"""Random pairs of directions along which curvature is compared with differences; a mean to about 15%."""
KINKED = 0.1
"""Derivatives that show less than this share of the curvature of differences miss kinks or jumps."""
ROUNDING = 64.0
"""How many times its relative rounding error a decoder's number may be off after a few dozen operations."""


def interaction_profile(
    decoder: Any,
    latents: Any,
    slots: int | Sequence[Sequence[int]],
    *,
    method: Method = "auto",
    max_order: int = 3,
    probes: int = 4,
    threshold: float = 0.05,
    standardise: bool = True,
    samples: int | None = 256,
    step: float = 0.5,
    batched: bool | None = None,
    framework: Arrays | None = None,
    precision: Precision | None = None,
    chunk: int = 128,
    resamples: int = 1000,
    seed: int = 0,
) -> InteractionProfile:
    """How strongly the slots of a decoder interact, order by order.

    With s_lk = ‖∂f_l/∂z_k‖ for output l and slot k, and X_m, W_m the squared norms of the m-th derivative across slots
    and within slots (sums over ordered index tuples, pooled over samples),

        q1 = Σ_l Σ_{j<k} s_lj s_lk / [½ (1 - 1/K) Σ_l (Σ_k s_lk)²],        r_m = sqrt(X_m / (X_m + W_m)).

    Slots have at most 0-th order interaction iff q1 = 0, at most n-th order iff r_{n+1} = 0.

    **Arguments:**

    - `decoder`: any callable from latents `(latents,)` to outputs of any shape, or from `(rows, latents)` to
        `(rows, ...)`; a JAX function, an Equinox or PyTorch module (evaluated in eval mode), a function of NumPy
        arrays, or a [`recombine.models.Model`][].
    - `latents`: `(samples, latents)` at which to measure, say encodings of data.
    - `slots`: the indices of every slot's latents, or a number of equal blocks.
    - `method`: `"exact"` takes all derivatives by nested forward mode, `"probes"` estimates their squared norms without
        bias along random directions and stores no Hessian, `"differences"` takes mixed finite differences along random
        directions, for functions without derivatives or with kinks. `"auto"` takes the first that works.
    - `max_order`: of the derivatives; with 3, orders 0, 1, 2 and "more than 2" can be distinguished.
    - `probes`: random directions per sample and set of slots.
    - `threshold`: shares up to this count as none. 1e-6 suits functions in closed form in float64.
    - `standardise`: whether a latent's standard deviation over `latents` is its unit, as shares depend on units.
    - `samples`: at most this many latents are measured, drawn at random; `None` for all.
    - `step`: of differences, in units of the latents.
    - `batched`, `framework`, `precision`, `chunk`: see [`recombine.models.as_function`][].
    - `resamples`: bootstrap resamples of the latents, for intervals.

    **References:** Brady, von Kügelgen, Lachapelle, Buchholz, Kipf and Brendel, Interaction asymmetry, ICLR 2025,
    arXiv 2411.07784; the estimators along random directions are Hutchinson's.

    ```python
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from recombine.metrics.interaction import interaction_profile
    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> profile = interaction_profile(lambda z: jnp.stack([jnp.sin(z[0]) + z[1] ** 2, z[0] * z[1]]), z, 2)
    >>> profile.order, round(profile.r2, 2), profile.r3
    (2, 0.54, 0.0)

    ```
    """
    rows = as_latents(latents)
    parts = as_slots(slots, rows.shape[1])
    _check(method, max_order, probes, threshold, step, resamples, samples)
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    scale = unit_of_latents(rows, notes) if standardise else np.ones(rows.shape[1])
    if samples is not None and len(rows) > samples:
        notes.append(f"{samples} of {len(rows)} latents were drawn; samples=None takes all")
        rows = rows[np.sort(rng.choice(len(rows), samples, replace=False))]
    function = as_function(
        decoder,
        rows,
        framework=framework,
        batched=batched,
        precision=precision,
        chunk=chunk,
        field="decoder",
    )
    notes.extend(function.notes)
    outputs = function.values(rows)
    if not np.isfinite(outputs).all():
        bad = int(np.argwhere(~np.isfinite(outputs))[0, 0])
        raise InputError("decoder", f"outputs that are not finite at sample {bad}", "finite outputs")
    method = choose_method(method, function, rows, scale, max_order, step, rng, notes)
    derivative: Derivative
    if method == "differences":
        derivative = difference_quotient(function.values, step)
    else:
        assert function.derivative is not None
        derivative = function.derivative
    number = None if method == "exact" else probes
    energies = tuple(
        slot_energies(
            derivative,
            rows,
            parts,
            order,
            outputs=outputs.shape[1],
            scale=scale,
            probes=number,
            rng=rng,
        )
        for order in range(1, max_order + 1)
    )
    counts = resample_counts(rng, len(rows), resamples).astype(float)
    size = float((outputs**2).sum(axis=1).mean() + energies[0].within.sum())
    shares, again = [], []
    for order, energy in enumerate(energies, start=1):
        growth = (2 / step) ** order if method == "differences" else ROUNDING
        share, values = summarise_share(
            energy,
            len(parts),
            exact=method == "exact",
            floor=(growth * function.eps) ** 2 * size,
            relative=ROUNDING * function.eps,
            resamples=counts,
        )
        shares.append(share)
        again.append(values)
    limits = np.array([max(threshold, np.nan_to_num(share.resolution)) for share in shares])
    if (limits > threshold).any():
        worst = shares[int(limits.argmax())]
        notes.append(f"{worst.name} is only known to {worst.resolution:.1g}, the precision of the decoder")
    if np.isnan(shares[0].value):
        notes.append("the decoder does not depend on its latents at these samples")
    order = int(estimated_orders(np.array([[share.value for share in shares]]), limits)[0])
    orders = estimated_orders(np.stack(again, axis=1), limits)
    return InteractionProfile(
        method=method,
        slots=tuple(tuple(int(i) for i in slot) for slot in parts),
        samples=len(rows),
        probes=number,
        threshold=threshold,
        shares=tuple(shares),
        order=order if order < max_order else None,
        order_chances=tuple(np.bincount(orders.astype(int), minlength=max_order + 1) / resamples),
        energies=energies,
        output_shape=function.output_shape,
        scale=scale,
        notes=tuple(notes),
    )


def unit_of_latents(latents: np.ndarray, notes: list[str]) -> np.ndarray:
    """The standard deviation of every latent; 1 for a latent that does not vary, with a note."""
    scale = latents.std(axis=0)
    still = scale <= 1e-12 * np.abs(latents).max(axis=0, initial=1e-300)
    if still.any():
        shown = ", ".join(str(i) for i in np.flatnonzero(still)[:5])
        if len(latents) > 1:
            notes.append(f"latents that do not vary keep their own unit: {shown}")
        else:
            notes.append("one sample gives no standard deviation: latents keep their own units")
    return np.where(still, 1.0, scale)


def choose_method(
    method: Method,
    function: ModelFunction,
    rows: np.ndarray,
    scale: np.ndarray,
    max_order: int,
    step: float,
    rng: np.random.Generator,
    notes: list[str],
) -> Literal["exact", "probes", "differences"]:
    """The method to use, with notes that say why where it is not the expected one."""
    if method == "differences":
        return method
    if function.derivative is None:
        if method == "auto":
            notes.append(f"differences, because {function.no_derivative}")
            return "differences"
        raise InputError(
            "method",
            method,
            f"method='differences', because the decoder has no derivatives: {function.no_derivative}",
        )
    smooth, rough = curvature(function, rows, scale, step, rng)
    if rough > 0 and smooth <= 0:
        text = "the decoder is piecewise linear: its second derivative is zero wherever it exists"
        if method == "auto":
            notes.append(f"differences, because {text}")
            return "differences"
        notes.append(f"{text}, which hides interaction; use method='differences'")
    elif smooth < KINKED * rough:
        notes.append(
            "most curvature lies in kinks or jumps, which derivatives miss; try method='differences'"
        )
    if method != "auto":
        return method
    latents = rows.shape[1]
    each = sum(comb(latents + order - 1, order) for order in range(1, max_order + 1))
    return "exact" if each <= MAX_EXACT else "probes"


def curvature(
    function: ModelFunction, rows: np.ndarray, scale: np.ndarray, step: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Mean squared second derivative along random pairs of directions, and that of differences; 0 if only rounding."""
    assert function.derivative is not None
    at = rows[rng.integers(len(rows), size=CURVATURE_PAIRS)]
    directions = rng.standard_normal((CURVATURE_PAIRS, 2, rows.shape[1])) * scale / np.sqrt(rows.shape[1])
    seconds = [f(at, directions) for f in (function.derivative, difference_quotient(function.values, step))]
    slope = function.derivative(at, directions[:, :1])
    size = float((function.values(at) ** 2 + slope**2).sum(axis=1).mean())
    means = [float(np.nan_to_num((values**2).sum(axis=1), posinf=0.0).mean()) for values in seconds]
    rounding = ROUNDING * function.eps
    floors = [rounding**2 * size, (4 / step**2 * rounding) ** 2 * size]
    smooth, rough = (m if m > floor else 0.0 for m, floor in zip(means, floors, strict=True))
    return smooth, rough


def _check(
    method: str,
    max_order: int,
    probes: int,
    threshold: float,
    step: float,
    resamples: int,
    samples: int | None,
) -> None:
    if method not in get_args(Method):
        raise InputError("method", method, "'auto', 'exact', 'probes' or 'differences'")
    if max_order not in (1, 2, 3, 4):
        raise InputError("max_order", max_order, "1, 2, 3 or 4")
    if probes < 1:
        raise InputError("probes", probes, "a positive number of random directions")
    if not 0 <= threshold < 1:
        raise InputError("threshold", threshold, "a share from 0 to below 1")
    if not (np.isfinite(step) and step > 0):
        raise InputError("step", step, "a positive length")
    if resamples < 1:
        raise InputError("resamples", resamples, "a positive number")
    if samples is not None and samples < 1:
        raise InputError("samples", samples, "a positive number, or None for all")
