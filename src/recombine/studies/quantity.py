"""What a claim measures: one number per seed, which way the paper says it goes, and how far."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from recombine.errors import InputError

Kind = Literal["ratio", "difference", "rate", "deviation", "described"]
Direction = Literal["above", "below"]


@dataclass(frozen=True)
class Quantity:
    """The primary quantity of a claim. Make one with `ratio`, `difference`, `rate`, `deviation` or `described`.

    - `name`: what is measured, such as `"unseen error / seen error"`.
    - `direction`: on which side of `no_effect` the paper puts it; `None` for a measurement that decides nothing.
    - `no_effect`: the value if there were no effect: 1 for ratios, 0 for differences, chance for rates.
    - `magnitude`: the value that counts as "as published"; by default half of the published effect (half of its
        logarithm for ratios). `None` if nothing was published, and then the direction is enough.
    - `published`: the published value; `published_text` replaces its digits where one number does not say it.
    - `tolerance`: of exact statements; every deviation must stay within it.
    """

    name: str
    kind: Kind
    _: KW_ONLY
    direction: Direction | None = None
    no_effect: float = math.nan
    magnitude: float | None = None
    published: float | None = None
    published_text: str = ""
    tolerance: float = math.nan

    def __post_init__(self) -> None:
        if self.kind == "ratio" and any(
            value is not None and value <= 0 for value in (self.no_effect, self.magnitude, self.published)
        ):
            raise InputError(self.name, self, "positive values, because ratios are compared on a log scale")
        if self.magnitude is None and self.published is not None and self.direction is not None:
            object.__setattr__(self, "magnitude", self.unscaled(self._half_of_published()))
        if self.magnitude is not None and not self.beyond(self.magnitude, self.no_effect):
            wrong = f"a magnitude {self.direction} the value without an effect, {self.no_effect:g}"
            raise InputError(f"magnitude of {self.name!r}", self.magnitude, wrong)

    def _half_of_published(self) -> float:
        assert self.published is not None
        return (self.scaled(self.no_effect) + self.scaled(self.published)) / 2

    def scaled(self, value: Any) -> Any:
        """Ratios are compared on a log scale, everything else as it is; works on arrays, too."""
        import numpy as np

        if self.kind != "ratio":
            return np.asarray(value, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.asarray(value, dtype=float))

    def unscaled(self, value: float) -> float:
        """The inverse of `scaled`."""
        return math.exp(value) if self.kind == "ratio" else float(value)

    def beyond(self, value: float, bound: float) -> bool:
        """Whether a value lies strictly on the claimed side of a bound.

        ```python
        >>> from recombine.studies.quantity import ratio
        >>> ratio("unseen error / seen error", "above").beyond(3.0, 1.0)
        True

        ```
        """
        return value < bound if self.direction == "below" else value > bound


def ratio(
    name: str,
    direction: Direction,
    *,
    published: float | None = None,
    magnitude: float | None = None,
    published_text: str = "",
    no_effect: float = 1.0,
) -> Quantity:
    """A ratio, compared on a log scale with 1.

    ```python
    >>> from recombine.studies.quantity import ratio
    >>> round(ratio("error without / with penalties", "above", published=190).magnitude, 1)
    13.8

    ```
    """
    return Quantity(
        name,
        "ratio",
        direction=direction,
        no_effect=no_effect,
        magnitude=magnitude,
        published=published,
        published_text=published_text,
    )


def difference(
    name: str,
    direction: Direction,
    *,
    published: float | None = None,
    magnitude: float | None = None,
    published_text: str = "",
    no_effect: float = 0.0,
) -> Quantity:
    """A difference, a correlation or another score, compared with its value without an effect.

    ```python
    >>> from recombine.studies.quantity import difference
    >>> difference("correlation with the sum minus with the target", "above", published=0.72).magnitude
    0.36

    ```
    """
    return Quantity(
        name,
        "difference",
        direction=direction,
        no_effect=no_effect,
        magnitude=magnitude,
        published=published,
        published_text=published_text,
    )


def rate(
    name: str,
    direction: Direction,
    *,
    no_effect: float,
    published: float | None = None,
    magnitude: float | None = None,
    published_text: str = "",
) -> Quantity:
    """How often something happens over seeds, compared with chance or with one half."""
    return Quantity(
        name,
        "rate",
        direction=direction,
        no_effect=no_effect,
        magnitude=magnitude,
        published=published,
        published_text=published_text,
    )


def deviation(name: str, *, tolerance: float = 0.0, published_text: str = "") -> Quantity:
    """How far an exact statement is off; a count of wrong cases has tolerance 0."""
    return Quantity(name, "deviation", tolerance=tolerance, published_text=published_text)


def described(name: str, *, published: float | None = None, published_text: str = "") -> Quantity:
    """A measurement without a direction to decide."""
    return Quantity(name, "described", published=published, published_text=published_text)
