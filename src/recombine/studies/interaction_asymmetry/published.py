"""Numbers that claims and figures use.

The paper does not test its theory on functions with known derivatives; these reference values were computed once in an
independent implementation, in float64.
"""

import math

PROFILES: dict[str, tuple[float, float, float, float]] = {
    "g0": (0.0, 0.0, 0.0, 0.0),
    "g1": (0.879728, 0.0, 0.0, 0.0),
    "g2": (0.842384, 0.391617, 0.0, 0.0),
    "g3": (0.852646, 0.453053, 0.229713, 0.0),
    "gs": (0.475825, 0.449864, 0.668635, 0.822101),
    "linear": (0.679245, math.nan, math.nan, math.nan),
    "g1 reparametrised": (0.797933, 0.0, 0.0, 0.0),
    "g2 reparametrised": (0.803169, 0.319112, 0.0551868, 0.0263032),
}
"""q1, r2, r3, r4 on a grid of 21 × 21 points of [-1, 1]²; NaN where there are no such derivatives."""
ORDERS: dict[str, int | None] = {"g0": 0, "g1": 1, "g2": 2, "g3": 3, "gs": None}
"""The order of interaction; `None` is more than 3."""
ROTATIONS: tuple[tuple[float, float, float, float, float], ...] = (
    (0, 0.0, 0.0, 0.391617, 0.0),
    (5, 0.123187, 0.150384, 0.366035, 0.150384),
    (10, 0.242627, 0.296198, 0.365122, 0.296198),
    (15, 0.354692, 0.433013, 0.389771, 0.433013),
    (20, 0.455983, 0.55667, 0.433013, 0.55667),
    (25, 0.543429, 0.663414, 0.484968, 0.663414),
    (30, 0.614379, 0.75, 0.537339, 0.75),
    (35, 0.666672, 0.813798, 0.584612, 0.813798),
    (40, 0.698708, 0.852869, 0.623413, 0.852869),
    (45, 0.709498, 0.866025, 0.651429, 0.866025),
    (50, 0.698708, 0.852869, 0.666684, 0.852869),
    (55, 0.666672, 0.813798, 0.667593, 0.813798),
    (60, 0.614379, 0.75, 0.653566, 0.75),
    (65, 0.543429, 0.663414, 0.625478, 0.663414),
    (70, 0.455983, 0.55667, 0.585652, 0.55667),
    (75, 0.354692, 0.433013, 0.537499, 0.433013),
    (80, 0.242627, 0.296198, 0.485276, 0.296198),
    (85, 0.123187, 0.150384, 0.434297, 0.150384),
    (90, 0.0, 0.0, 0.391617, 0.0),
)
"""Degrees of a rotation of the two latents, then r2 of g1, r3 of g2, r2 of g2 and r3 of g1."""
L_SHAPE: dict[tuple[str, int], tuple[float, float, float, float]] = {
    ("g1", 1): (1.0, 1.0, 0.99992, 0.99989),
    ("g1", 2): (1.0, 1.0, 0.99992, 0.99971),
    ("g1", 3): (1.0, 1.0, 0.99991, 0.99945),
    ("g1", 7): (1.0, 1.0, 0.99983, 0.0831),
    ("g2", 1): (0.92767, -1.0388, 0.9276, -1.03864),
    ("g2", 2): (1.0, 1.0, 0.99992, 0.99974),
    ("g2", 3): (1.0, 1.0, 0.99992, 0.99951),
    ("g2", 7): (1.0, 1.0, 0.99984, 0.17683),
    ("g3", 1): (0.91364, -0.77643, 0.91358, -0.77646),
    ("g3", 2): (0.9912, 0.76376, 0.99113, 0.76405),
    ("g3", 3): (1.0, 1.0, 0.99993, 0.99957),
    ("g3", 7): (1.0, 1.0, 0.99986, 0.27682),
    ("gs", 1): (0.93209, -0.63686, 0.93191, -0.63835),
    ("gs", 2): (0.95941, 0.3207, 0.95921, 0.31018),
    ("gs", 3): (0.9795, 0.37927, 0.97929, 0.34798),
    ("gs", 7): (0.99901, -1.14293, 0.99861, -2.21756),
}
"""R² inside and outside the support, by generator and order of the model: first without noise, then with noise 0.05."""
NOISE = 0.05
RANKS: dict[str, tuple[int, int, tuple[int, int]]] = {"g1": (4, 2, (1, 1)), "g2": (7, 5, (1, 1))}
"""Rank of all derivatives, of the lower orders, and of each slot, for order 1 (g1) and order 2 (g2)."""
CENTROIDS: dict[str, int] = {
    "1 output": 10,
    "2 outputs": 4,
    "3 outputs": 1,
    "hidden blocks": 2,
    "third order": 1,
    "third order, hidden blocks": 2,
    "jacobian": 1,
    "jacobian, hidden blocks": 2,
}
"""Dimension of the centroid of random slots of four latents, or number of components of their Jacobian."""
