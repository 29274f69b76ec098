"""Decoders of known order; those that differ in their arrays alone share a compiled program."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

OWNER = np.array([0, 0, 1, 1])
SLOTS = [[0, 1], [2, 3]]


class Polynomial(eqx.Module):
    """A function of every slot, and products across slots of up to four latents, of `mixing @ z`."""

    own: Any
    second: Any
    third: Any
    fourth: Any
    mixing: Any

    def __call__(self, z: Any) -> Any:
        y = self.mixing @ z
        each = jnp.sin(self.own[0] @ y[:2]) + jnp.sin(self.own[1] @ y[2:] + 0.5)
        pairs = jnp.einsum("oij,i,j->o", self.second, y, y)
        triples = jnp.einsum("oijk,i,j,k->o", self.third, y, y, y)
        fours = jnp.einsum("oijkl,i,j,k,l->o", self.fourth, y, y, y, y)
        return each + pairs + triples + fours


def make(
    order: int, rng: np.random.Generator, mixing: np.ndarray | None = None, outputs: int = 5
) -> Polynomial:
    """A random polynomial of exactly that order across slots, from 1 to 4."""

    def crossing(m: int) -> np.ndarray:
        if order < m:
            return np.zeros((outputs, *[4] * m))
        indices = np.indices([4] * m).reshape(m, -1)
        across = (OWNER[indices] != OWNER[indices[:1]]).any(axis=0).reshape([4] * m)
        return rng.normal(size=(outputs, *[4] * m)) * across / m

    own = rng.normal(size=(2, outputs, 2))
    turn = np.eye(4) if mixing is None else mixing
    return Polynomial(own, crossing(2), crossing(3), crossing(4), turn)


@pytest.fixture(scope="session")
def polynomial() -> Any:
    return make


@pytest.fixture(scope="session")
def latents() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(24, 4))
