"""The published pairs of teachers: how many features the auxiliary and the main task share, how strong, how aligned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recombine.errors import InputError
from recombine.tasks.teachers.teacher import Amplitude, Teacher, amplitude_of


class TeacherPair(NamedTuple):
    """What is learned first, and what is learned with it or after it."""

    aux: Teacher
    main: Teacher


def diagonal_teachers(
    *,
    inputs: int = 1000,
    known: int = 40,
    active: int = 40,
    overlap: int = 40,
    amplitude: Amplitude = "1/sqrt(k)",
    seed: int = 0,
) -> TeacherPair:
    """Sparse linear teachers whose features are single inputs, with random signs that agree on shared features.

    **Arguments:**

    - `known`, `active`: features of the auxiliary and of the main task.
    - `overlap`: features that they share.
    - `amplitude`: size of the main task's coefficients; those of the auxiliary task are 1/sqrt(known).
    - `seed`: determines features and signs.

    ```python
    >>> from recombine.tasks import diagonal_teachers
    >>> pair = diagonal_teachers(inputs=20, known=4, active=3, overlap=2)
    >>> len(set(pair.aux.names) & set(pair.main.names))
    2

    ```
    """
    if not active >= 1 or not known >= 1 or not 0 <= overlap <= min(known, active):
        raise InputError("overlap", overlap, f"at most known and active, {min(known, active)}")
    if inputs < known + active - overlap:
        raise InputError("inputs", inputs, f"at least {known + active - overlap}")
    rng = np.random.default_rng(seed)
    order = rng.permutation(inputs)[: known + active - overlap]
    signs = rng.choice([-1.0, 1.0], size=len(order))
    all_features = Teacher(tuple(f"input {i}" for i in order), np.eye(inputs)[order], signs)
    names = all_features.names
    aux = all_features.subset(names[:known]).rescaled(amplitude_of(known, "1/sqrt(k)"))
    chosen = [*names[:overlap], *names[known:]]
    return TeacherPair(aux, all_features.subset(chosen).rescaled(amplitude_of(active, amplitude)))


def relu_teachers(
    cosines: Sequence[float] = (1.0,) * 6,
    *,
    inputs: int = 15,
    known: int = 6,
    magnitude: float = 1.0,
    amplitude: Amplitude = "1/sqrt(k)",
    seed: int = 0,
) -> TeacherPair:
    """Teachers of orthonormal rectified units; unit i of the main task has the given cosine with unit i of the other.

    **Arguments:**

    - `cosines`: one per unit of the main task; 1: the same unit, 0: an orthogonal one.
    - `magnitude`: factor of the main task's weights.
    - `amplitude`: of the main task's weights before that; those of the auxiliary task are 1/sqrt(known).
    - `seed`: determines directions and signs; signs of the two tasks are independent.

    ```python
    >>> from recombine.tasks import relu_teachers
    >>> pair = relu_teachers((1.0, 0.9))
    >>> (pair.aux.directions[:2] * pair.main.directions).sum(axis=1).round(6).tolist()
    [1.0, 0.9]

    ```
    """
    k = len(cosines)
    if not 1 <= k <= known:
        raise InputError("cosines", list(cosines), f"one for each unit of the main task, at most {known}")
    if inputs < known + k:
        raise InputError("inputs", inputs, f"at least {known + k}, for orthogonal units")
    rng = np.random.default_rng(seed)
    square = np.linalg.qr(rng.normal(size=(inputs, inputs)))
    basis = (square[0] * np.sign(np.diag(square[1]))).T  # uniform over rotations
    signs = rng.choice([-1.0, 1.0], size=known + k)
    names = tuple(f"unit {i}" for i in range(known))
    aux = Teacher(names, basis[:known], signs[:known] * amplitude_of(known, "1/sqrt(k)"), "relu")
    fresh = Teacher(names[:k], basis[known : known + k], np.ones(k), "relu")
    turned = aux.subset(names[:k]).rotated(cosines, fresh)
    weights = magnitude * amplitude_of(k, amplitude) * signs[known:]
    return TeacherPair(aux, turned.reweighted(weights.tolist()))
