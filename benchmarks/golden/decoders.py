"""Small decoders in NumPy, JAX and PyTorch for the profile of interactions, asymmetry and the discovery of slots."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.golden.running import call

RNG = np.random.default_rng(1)
LEFT, RIGHT = RNG.normal(size=(2, 12, 2))
BOTH = RNG.normal(size=12)
LATENTS = RNG.normal(size=(40, 4))
SLOTS = [[0, 1], [2, 3]]
EXACT, SINGLE = 1e-6, 1e-3


def added(z: Any, lib: Any = np) -> Any:
    """Two slots whose outputs add up: order 1."""
    return lib.tanh(LEFT @ z[:2]) + lib.sin(RIGHT @ z[2:])


def met(z: Any, lib: Any = np) -> Any:
    """The README's decoder: slots also meet in the product of their first latents, order 2."""
    return added(z, lib) + 0.3 * BOTH * z[0] * z[2]


def mixed(z: Any, lib: Any = np) -> Any:
    """One layer of all latents: more than order 2."""
    return lib.tanh(np.concatenate([LEFT, RIGHT], axis=1) @ z)


def apart(z: Any, lib: Any = np) -> Any:
    """Every output depends on one slot: order 0. The slots are (0, 2) and (1, 3)."""
    return lib.stack([z[0] * z[2] + z[0] ** 2, lib.sin(z[1] * z[3]), z[2] ** 3, z[1] - z[3]])


def rich(z: Any, lib: Any = np) -> Any:
    """Slots that interact internally and meet at order 1: asymmetry holds."""
    own = [lib.stack([s[0] * s[1], s[0] ** 2, s[1] ** 2 + s[0]]) for s in (z[:2], z[2:])]
    return lib.concatenate([*own, z, own[0] + own[1] ** 2])


def picture(z: Any, lib: Any = np) -> Any:
    """The decoder of examples/interaction_of_a_decoder.py, smaller."""
    lit = z[0] * z[3] - z[1] * z[2]
    return lib.tanh(LEFT @ z[:2] - 0.5) + lib.tanh(RIGHT @ z[2:] + 0.3) + lit * (np.arange(12) % 5 == 0)


def torch_net(kind: str) -> Any:
    """A PyTorch module with two layers of weights from NumPy."""
    import torch
    from torch import nn

    net = nn.Sequential(nn.Linear(4, 10), getattr(nn, kind)(), nn.Linear(10, 6))
    rng = np.random.default_rng(2)
    with torch.no_grad():
        for weights in net.parameters():
            weights.copy_(torch.from_numpy(rng.normal(size=tuple(weights.shape))))
    return net


def jax_relu(z: Any) -> Any:
    """Piecewise linear, so its second derivatives mislead."""
    import jax.numpy as jnp

    return jnp.maximum(LEFT @ z[:2], 0) + jnp.maximum(RIGHT @ z[2:] + z[0], 0)


def rows_at_a_time(z: np.ndarray) -> np.ndarray:
    return np.tanh(z[:, :2] @ LEFT.T) * np.tanh(z[:, 2:] @ RIGHT.T)


def in_jax(decoder: Callable[..., Any]) -> Callable[[Any], Any]:
    import jax.numpy as jnp

    return partial(decoder, lib=jnp)


def run(function: str, make: Callable[[], Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """A case: one of the exported functions on a decoder that is made when it runs."""

    def case() -> Any:
        import recombine

        return call(lambda: getattr(recombine, function)(make(), *arguments, **options))

    return case


def cases() -> dict[str, tuple[Callable[[], Any], float]]:
    """By name: what to run, and the relative tolerance."""
    profile, asymmetry, discover = "interaction_profile", "asymmetry_report", "discover_slots"
    cases = {}
    for decoder in (added, met, mixed, apart, rich, picture):
        cases[f"jax-{decoder.__name__}"] = run(profile, partial(in_jax, decoder), LATENTS, SLOTS), EXACT
    for decoder in (added, met, rich, mixed):
        cases[f"asymmetry-{decoder.__name__}"] = run(asymmetry, partial(in_jax, decoder), LATENTS, 2), EXACT
    probes = run(profile, partial(in_jax, met), LATENTS, SLOTS, method="probes", probes=8, seed=3)
    wider = {"standardise": False, "max_order": 2, "threshold": 1e-6, "samples": 10}
    return cases | {
        "jax-probes": (probes, EXACT),
        "jax-options": (run(profile, partial(in_jax, added), LATENTS, SLOTS, **wider), EXACT),
        "jax-relu": (run(profile, lambda: jax_relu, LATENTS, SLOTS), SINGLE),
        "numpy-met": (run(profile, lambda: met, LATENTS, SLOTS), EXACT),
        "numpy-rows": (run(profile, lambda: rows_at_a_time, LATENTS, 2, batched=True), EXACT),
        "numpy-asymmetry": (run(asymmetry, lambda: added, LATENTS, 2), EXACT),
        "torch-tanh": (run(profile, lambda: torch_net("Tanh"), LATENTS, SLOTS), SINGLE),
        "torch-relu": (run(profile, lambda: torch_net("ReLU"), LATENTS, SLOTS), SINGLE),
        "torch-asymmetry": (run(asymmetry, lambda: torch_net("Tanh"), LATENTS, SLOTS), SINGLE),
        "discover-apart": (run(discover, partial(in_jax, apart), LATENTS, 2), EXACT),
        "discover-met": (run(discover, partial(in_jax, met), LATENTS, 2), EXACT),
        "discover-free": (run(discover, partial(in_jax, apart), LATENTS), EXACT),
        "discover-sizes": (run(discover, partial(in_jax, rich), LATENTS, sizes=[1, 3], order=2), EXACT),
        "discover-numpy": (run(discover, lambda: apart, LATENTS, 2), EXACT),
        "discover-torch": (run(discover, lambda: torch_net("Tanh"), LATENTS, 2), SINGLE),
        "bad-slots": (run(profile, partial(in_jax, met), LATENTS, 3), EXACT),
        "bad-method": (run(profile, partial(in_jax, met), LATENTS, SLOTS, method="guess"), EXACT),
        "bad-latents": (run(asymmetry, partial(in_jax, met), LATENTS[0], SLOTS), EXACT),
        "bad-order": (run(discover, partial(in_jax, met), LATENTS, 2, order=4), EXACT),
    }
