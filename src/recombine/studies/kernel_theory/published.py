"""Published numbers that claims and figures need, and tabulated ones of the theory."""

REGION = (
    *((0, 0, 24), (0, 3, 21), (1, 3, 19), (1, 3, 19), (1, 3, 18), (1, 4, 17), (1, 4, 16), (1, 4, 16)),
    *((1, 4, 15), (1, 4, 15), (1, 4, 14), (1, 4, 14), (1, 4, 13), (1, 4, 13), (1, 4, 12), (1, 4, 12)),
    *((1, 4, 11), (1, 5, 10), (1, 5, 9), (1, 6, 8), (1, 6, 7), (1, 7, 6), (1, 7, 5), (1, 7, 5), (1, 8, 3)),
    *((1, 8, 3), (1, 9, 1), (1, 9, 1), (1, 9, 0), (1, 9, 0), (1, 8, 0), (1, 8, 0), (1, 7, 0), (1, 7, 0)),
    *((1, 6, 0), (1, 6, 0), (0, 6, 0), (0, 6, 0), (0, 5, 0), (0, 5, 0), (0, 4, 0), (0, 4, 0), (0, 3, 0)),
    *((0, 3, 0), (0, 2, 0), (0, 2, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0), (0, 0, 0)),
)
"""The map of context dependence: for S(1;3) = i / 147, how many tiles along S(2;3) = 2 j / 147, after one where nothing
passes (j = 0), let CD-1 alone, CD-1 and CD-2, and all three pass."""
DISPERSED = (
    *(
        13.23,
        12.794,
        12.376,
        11.982,
        11.602,
        11.238,
        10.892,
        10.559,
        10.24,
        9.932,
        9.636,
        9.352,
        9.078,
        8.813,
    ),
    *(8.555, 8.308, 8.065, 7.83, 7.602, 7.382, 7.166, 6.953, 6.748, 6.547, 6.346, 6.152, 5.959, 5.769, 5.579),
    *(5.393, 5.207, 5.022, 4.836, 4.65, 4.464, 4.278, 4.084, 3.887, 3.689, 3.485, 3.272, 3.052, 2.82, 2.577),
    *(2.308, 2.023, 1.712, 1.367, 0.972, 0.54, 0.122),
)
"""Mean test error of support vector regression on dispersed addition, at S(1;2) = 0, 0.01, ..., 0.5."""
ORDERING = (1, 0.2654, 0.3565, 0.4753, 0.6636, 0.9982)
"""Mean margins of transitive ordering at S(1;2) = 0.3, by distance 1 to 6."""
KIND_SIZES = (
    (0.6169, 0.3312, 0.1319, 0.0390, 0.0693),
    (0.5992, 0.3135, 0.1169, 0.0238, 0.0804),
    (0.5842, 0.2985, 0.1094, 0.0110, 0.0879),
    (0.0844, 0.3052, 0.1319, 0.5065, 0.6667),
)
"""Coefficients of right, wrong, sensory, context and memorising conjunctions: perfect answers to CD-3, CD-2 and CD-1,
and answers to CD-3 that are inverted on unseen cells."""
LAZY_SLOPES = {"extrapolation": 0.745, "interpolation": 0.85, "both": 0.85, "asymmetric": 0.72}
RICH_SLOPES = {"extrapolation": 0.75, "interpolation": 0.993, "both": 0.91}
DEEP_SLOPES = {"extrapolation": (0.72, 0.63), "interpolation": (1.0, 1.0), "both": (0.89, 0.85)}
"""At 1 and at 4 layers."""
