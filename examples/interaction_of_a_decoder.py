"""Do the slots of a decoder interact, and how? A profile and a verdict for a decoder of your own."""

import jax.numpy as jnp
import numpy as np

from recombine import asymmetry_report, interaction_profile

WEIGHTS = np.random.default_rng(1).normal(size=(2, 60, 2))


def render(z: jnp.ndarray) -> jnp.ndarray:
    """Two objects of two latents: each draws all 60 pixels, and in every tenth they light each other up."""
    a, b = z[:2], z[2:]
    drawn = jnp.tanh(WEIGHTS[0] @ a - 0.5) + jnp.tanh(WEIGHTS[1] @ b + 0.3)
    return drawn + jnp.where(jnp.arange(60) % 10 == 0, a[0] * b[1] - a[1] * b[0], 0.0)


def main(samples: int = 100) -> None:
    latents = np.random.default_rng(0).normal(size=(samples, 4))
    profile = interaction_profile(render, latents, slots=[[0, 1], [2, 3]])
    print(profile)
    print("pixels that carry it:", np.flatnonzero(profile.cross_map(2) > 1e-6).tolist(), end="\n\n")
    print(asymmetry_report(render, latents, slots=[[0, 1], [2, 3]]))


if __name__ == "__main__":
    main()
