"""Closed forms of what kernel machines predict on small compositional tasks (Lippl & Stachenfeld, arXiv 2405.16391).

`S` is the normalised salience of one factor among two. `k` is the similarity of two cells that share one of two factors
(0 for cells that share none, 1 for the same cell). `s1`, `s2` and `s3` are the saliences of single factors, pairs and
triples of three factors, in any unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.errors import InputError


def leak_ratio(salience: float) -> float:
    """`(1 - 2 S) / S`: the salience of whole cells over that of single factors, which is the ridge of the leak.

    ```python
    >>> from recombine.theory import leak_ratio
    >>> round(leak_ratio(0.3), 4)
    1.3333

    ```
    """
    if not 0 <= salience <= 0.5:
        raise InputError("salience", salience, "a share of one factor among two, from 0 to 0.5")
    return np.inf if salience == 0 else (1 - 2 * salience) / salience


def addition_slope(salience: float, partners: int) -> float:
    """The slope of predictions on true sums for unseen pairs, `m = p S / (1 + (p - 2) S)` (Prop. 5.1).

    With the ridge `r = (1 - 2 S) / S` this is `p / (p + r)`: ridge regression on p observations of each level.

    **Arguments:**

    - `partners`: p, the number of partners with which each of the two levels was seen.

    ```python
    >>> from recombine.theory import addition_slope
    >>> round(addition_slope(0.3, 1), 6)
    0.428571

    ```
    """
    return partners / (partners + leak_ratio(salience))


def implied_salience(slope: float, partners: int) -> float:
    """The salience at which `addition_slope` is `slope`: `S = m / (p - (p - 2) m)`.

    ```python
    >>> from recombine.theory import addition_slope, implied_salience
    >>> round(implied_salience(addition_slope(0.3, 2), 2), 6)
    0.3

    ```
    """
    return slope / (partners - (partners - 2) * slope)


class Line(NamedTuple):
    """The prediction `offset + slope * (v_i + v_j)`."""

    slope: float
    offset: float


def addition_line(values: np.ndarray, anchors: np.ndarray, salience: float, *, offset: bool = True) -> Line:
    """Predictions of minimum-norm addition for cells in which neither level is an anchor.

    **Arguments:**

    - `values`: the number that each level stands for, the same for both factors.
    - `anchors`: level indices; training has the cells in which at least one factor is at an anchor.
    - `salience`: of one factor, S(1; 2).
    - `offset`: whether the machine has an unpenalised constant.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import addition_line
    >>> [round(number, 4) for number in addition_line(np.arange(-4, 5), [0], 0.3)]
    [0.4286, -2.8391]

    ```
    """
    values = np.asarray(values, dtype=np.float64)
    n, p, ratio = len(values), len(anchors), leak_ratio(salience)
    if not np.isfinite(ratio) or not 0 < p <= n:
        raise InputError("salience", (salience, p), "a salience above 0, and 1 to n anchors")
    total, inside = values.sum(), values[np.asarray(anchors)].sum()
    # The unknowns are the sums of the machine's level effects over anchors and over other levels, and the constant. The
    # first two rows are the ridge equations, summed over levels. The last row makes the dual weights add up to 0, which
    # is what an unpenalised constant does, or sets the constant to 0.
    last = [1.0, 1.0, 0.0] if offset else [0.0, 0.0, 1.0]
    matrix = np.array([[n + ratio + p, p, p * n], [n - p, p + ratio, (n - p) * p], last])
    right = [n * inside + p * total, p * (total - inside) + (n - p) * inside, 0.0]
    anchor_sum, _, constant = np.linalg.solve(matrix, right)
    level = (inside - p * constant - anchor_sum) / (p + ratio)
    return Line(addition_slope(salience, p), float(constant + 2 * level))


def held_out_corner(k: float, y00: float, y01: float, y10: float) -> float:
    """The prediction for the last cell of a 2 × 2 table: `[k (y01 + y10) - 2 k^2 y00] / (1 - 2 k^2)`.

    For the minimum norm without a constant. Partial exposure has the labels (-1, -1, 1); AND, OR and XOR differ from it
    only in their labels.

    ```python
    >>> from recombine.theory import held_out_corner
    >>> round(held_out_corner(0.3, -1, -1, 1), 4), held_out_corner(0.3, -1, -1, -1) < 0  # AND is predicted wrong
    (0.2195, True)

    ```
    """
    return (k * (y01 + y10) - 2 * k**2 * y00) / (1 - 2 * k**2)


def invariance(k: float) -> float:
    """The size of the prediction for a seen level with a new partner: `k / (1 - k)`, without a constant.

    Training has two cells, with labels -1 and 1 and the same level of the second factor.

    ```python
    >>> from recombine.theory import invariance
    >>> round(invariance(0.3), 4)
    0.4286

    ```
    """
    return k / (1 - k)


class Margins(NamedTuple):
    """The margin on the held-out cells, and whether the closed-form criterion says that it is positive."""

    margin: float
    generalises: bool


def context_squared(s1: float, s2: float, s3: float, *, per_class: int = 3) -> Margins:
    """Context dependence with the whole block held out (CD-3), for the minimum norm (squared loss).

    Generalises if and only if `2 s2 (r s1 + s2) > s1 s3`, where r is `per_class`, the number of levels in each class.

    ```python
    >>> from recombine.theory import context_squared
    >>> context_squared(0.2, 0.1, 0.1).generalises
    True

    ```
    """
    r, q = per_class, per_class**2 * s1 + per_class * s2
    kept = 2 * q**2 / (2 * q + s3)
    margin = (kept - r**2 * s1) / (q + r * s2 + s3 - kept)
    return Margins(float(margin), bool(2 * s2 * (r * s1 + s2) > s1 * s3))


def context_margin(s1: float, s2: float, s3: float, *, per_class: int = 3) -> Margins:
    """The same for the maximum margin, the limit of cross-entropy.

    Generalises if and only if `2 r^2 s1 (s2 - s1) - r s1 s2 + 3 r s2^2 + s2 s3 > 0`. Where all training cells are
    support vectors, the machine is the minimum-norm one, and the margin that of `context_squared`.

    ```python
    >>> from recombine.theory import context_margin, context_squared, random_network
    >>> relu = random_network(3, depth=3).order_shares  # one factor, one pair, the triple
    >>> round(context_margin(*relu).margin, 4), round(context_squared(*relu).margin, 3)
    (-0.2167, 0.522)

    ```
    """
    r, q = per_class, per_class**2 * s1 + per_class * s2
    consistent = 2 / (4 * r * s1 + 2 * r * s2 + 2 * s2 + s3)
    conflict = 1 / (q + r * s2 + s3 - 2 * q**2 / (2 * q + s3))
    if consistent >= 2 * q * conflict / (2 * q + s3):
        return context_squared(s1, s2, s3, per_class=r)
    same = r**2 * s1 + 2 * r * s1 + 2 * r * s2 + s2 + s3
    other = r**2 * s1 + 2 * r * s2 + s3
    scale = same * other - q**2
    margin = (q * (other + q) - r**2 * s1 * (same + q)) / scale
    criterion = 2 * r**2 * s1 * (s2 - s1) - r * s1 * s2 + 3 * r * s2**2 + s2 * s3
    return Margins(float(margin), bool(criterion > 0))
