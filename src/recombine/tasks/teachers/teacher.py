"""Teachers: sums of named features, from which main tasks are built as subsets, unions, rotations and rescalings.

A main task made of features of an auxiliary task is a recombination of learned parts. Lippl and Lindsey, Inductive
biases of multi-task learning and finetuning, 2024, arXiv 2310.02396.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

Kind = Literal["linear", "relu"]
Amplitude = Literal["1/k", "1/sqrt(k)"]


@dataclass(frozen=True, eq=False)
class Teacher:
    """A function `sum_i weight_i g(<direction_i, x>)` of named features, with g the identity or a rectifier.

    **Arguments:**

    - `names`: of the features, all different.
    - `directions`: `(features, inputs)`, of length 1.
    - `weights`: `(features,)`.
    - `kind`: `"linear"` or `"relu"`.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import Teacher
    >>> aux = Teacher(("edge", "corner", "dot"), np.eye(3, 5), np.array([1.0, -1.0, 2.0]))
    >>> fresh = Teacher(("stripe",), np.eye(5)[4:], np.array([0.5]))
    >>> main = aux.subset(["corner"]) | fresh.rescaled(2.0)
    >>> main
    Teacher(linear, 2 features of 5 inputs: corner, stripe)
    >>> main.coefficients.tolist()
    [0.0, -1.0, 0.0, 0.0, 1.0]

    ```
    """

    names: tuple[str, ...]
    directions: Float[np.ndarray, "features inputs"]
    weights: Float[np.ndarray, " features"]
    kind: Kind = "linear"

    def __post_init__(self) -> None:
        directions = np.asarray(self.directions, dtype=np.float64)
        weights = np.asarray(self.weights, dtype=np.float64)
        names = tuple(self.names)
        if self.kind not in {"linear", "relu"}:
            raise InputError("kind", self.kind, "'linear' or 'relu'")
        if directions.ndim != 2 or weights.shape != (len(directions),) or len(names) != len(directions):
            shapes = (len(names), directions.shape, weights.shape)
            raise InputError("features", shapes, "a name, a direction and a weight for each feature")
        if not (np.isfinite(directions).all() and np.isfinite(weights).all()):
            raise InputError("features", "NaN or infinity", "finite directions and weights")
        if not np.allclose(np.linalg.norm(directions, axis=1), 1):
            raise InputError("directions", "a vector of another length", "vectors of length 1")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError("names", twice[0], "a different name for each feature")
        for name, value in (("names", names), ("directions", directions), ("weights", weights)):
            object.__setattr__(self, name, value)

    def __call__(self, x: Float[np.ndarray, "rows inputs"]) -> Float[np.ndarray, " rows"]:
        """The targets of inputs."""
        activity = np.asarray(x) @ self.directions.T
        return (np.maximum(activity, 0) if self.kind == "relu" else activity) @ self.weights

    @property
    def coefficients(self) -> Float[np.ndarray, " inputs"]:
        """The linear function that a linear teacher computes."""
        if self.kind != "linear":
            raise InputError("kind", self.kind, "'linear'; a teacher of rectified units has no coefficients")
        return self.weights @ self.directions

    def subset(self, names: Sequence[str]) -> Teacher:
        """Only these features, in this order."""
        unknown = [name for name in names if name not in self.names]
        if unknown or not names:
            raise InputError(
                "names", unknown[0] if unknown else list(names), f"some of {', '.join(self.names)}"
            )
        chosen = [self.names.index(name) for name in names]
        return replace(
            self, names=tuple(names), directions=self.directions[chosen], weights=self.weights[chosen]
        )

    def __or__(self, other: Teacher) -> Teacher:
        """The features of both; a feature that both have must be the same in both."""
        if (other.kind, other.directions.shape[1]) != (self.kind, self.directions.shape[1]):
            raise InputError("features", other, f"{self.kind} features of {self.directions.shape[1]} inputs")
        for name in set(self.names) & set(other.names):
            mine, theirs = self.subset([name]), other.subset([name])
            if not (np.allclose(mine.directions, theirs.directions) and mine.weights == theirs.weights):
                raise InputError("names", name, "different names for different features")
        fresh = [name for name in other.names if name not in self.names]
        if not fresh:
            return self
        added = other.subset(fresh)
        return replace(
            self,
            names=(*self.names, *added.names),
            directions=np.concatenate([self.directions, added.directions]),
            weights=np.concatenate([self.weights, added.weights]),
        )

    def rescaled(self, factor: float) -> Teacher:
        """All weights times `factor`."""
        if not np.isfinite(factor):
            raise InputError("factor", factor, "a finite number")
        return replace(self, weights=factor * self.weights)

    def reweighted(self, weights: Mapping[str, float] | Sequence[float]) -> Teacher:
        """The same features with other weights."""
        if isinstance(weights, Mapping):
            weights = [
                weights.get(name, weight) for name, weight in zip(self.names, self.weights, strict=True)
            ]
        return replace(self, weights=np.asarray(weights, dtype=np.float64))

    def rotated(self, cosines: float | Sequence[float], towards: Teacher) -> Teacher:
        """Every feature turned towards that of `towards` in the same place, to a given cosine with its old direction.

        The other teacher's directions must be orthogonal to these. Rotated features get a new name, `edge at 0.9`.
        """
        given = np.broadcast_to(np.asarray(cosines, dtype=np.float64), self.weights.shape)
        if (np.abs(given) > 1).any():
            raise InputError("cosines", cosines, "numbers from -1 to 1")
        if towards.directions.shape != self.directions.shape:
            raise InputError(
                "towards", towards, f"as many features as there are to rotate, {len(self.names)}"
            )
        if np.abs((self.directions * towards.directions).sum(axis=1)).max() > 1e-8:
            raise InputError("towards", towards, "directions orthogonal to those that are rotated")
        turned = given[:, None] * self.directions + np.sqrt(1 - given**2)[:, None] * towards.directions
        names = tuple(
            name if cosine == 1 else f"{name} at {cosine:g}"
            for name, cosine in zip(self.names, given, strict=True)
        )
        return replace(self, names=names, directions=turned)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", …" if len(self.names) > 6 else "")
        features = f"{len(self.names)} feature{'s' if len(self.names) != 1 else ''}"
        return f"Teacher({self.kind}, {features} of {self.directions.shape[1]} inputs: {shown})"


def amplitude_of(features: int, amplitude: Amplitude) -> float:
    """The weight of each of `features` features."""
    if amplitude not in {"1/k", "1/sqrt(k)"}:
        raise InputError("amplitude", amplitude, "'1/k' or '1/sqrt(k)'")
    return 1 / features if amplitude == "1/k" else 1 / float(np.sqrt(features))
