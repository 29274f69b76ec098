"""Published numbers that claims and figures use, and tabulated values of the theory."""

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
"""Coefficients of right, wrong, sensory, context and memorising conjunctions: perfect predictions on CD-3, CD-2 and
CD-1, and predictions on CD-3 that are inverted on unseen cells."""
LAZY_SLOPES = {"extrapolation": 0.745, "interpolation": 0.85, "both": 0.85, "asymmetric": 0.72}
RICH_SLOPES = {"extrapolation": 0.75, "interpolation": 0.993, "both": 0.91}
DEEP_SLOPES = {"extrapolation": (0.72, 0.63), "interpolation": (1.0, 1.0), "both": (0.89, 0.85)}
"""At 1 and at 4 layers."""
IMAGE_DISTANCES = (0, 5, 10, 15, 20)
"""Pixels between images of 28."""
IMAGE_SLOPES = {
    "extrapolation": (0.554, 0.605, 0.692, 0.747, 0.776),
    "asymmetric": (0.516, 0.553, 0.613, 0.654, 0.674),
    "interpolation": (0.653, 0.692, 0.763, 0.806, 0.834),
    "both": (0.657, 0.699, 0.774, 0.819, 0.833),
}
"""ConvNet on pairs of MNIST digits, at each distance."""
IMAGE_CONTEXT = {
    3: (0.503, 0.424, 0.363, 0.288, 0.229),
    2: (0.839, 0.870, 0.913, 0.942, 0.944),
    1: (0.894, 0.910, 0.940, 0.953, 0.963),
}
"""Right on unseen cells of CD-3, CD-2 and CD-1, at each distance."""
IMAGE_EQUIVALENCE = {
    "new images": (0.704, 0.733, 0.817, 0.870, 0.885),
    "unseen pairs": (0.529, 0.580, 0.760, 0.831, 0.891),
}
"""Transitive equivalence with 4 hubs, at each distance."""
IMAGE_SHARES = {
    "ConvNet": {"right": (0.261, 0.542, 0.546), "context": (0.381, 0.021, 0.008)},
    "ResNet": {"right": (0.254, 0.533, 0.537), "context": (0.174, 0.010, 0.029)},
    "ViT": {"right": (0.296, 0.463, 0.527), "context": (0.286, 0.136, 0.036)},
}
"""Shares of two kinds of conjunctions in CD-3, CD-2 and CD-1 (ConvNet at distance 20)."""
READER_SLOPES = {
    "ConvNet": {"extrapolation": 0.554, "interpolation": 0.653},
    "ResNet": {"extrapolation": 0.396, "interpolation": 0.468},
    "ViT": {"extrapolation": 0.259, "interpolation": 0.321},
}
"""At distance 0; ResNet and ViT on CIFAR-10."""
READER_CONTEXT = {
    "ConvNet": (0.503, 0.839, 0.894),
    "ResNet": (0.468, 0.638, 0.750),
    "ViT": (0.461, 0.577, 0.583),
}
"""Right on unseen cells of CD-3, CD-2 and CD-1, at distance 0."""
ADDITIVITY = {
    "extrapolation": (0.994, 0.998),
    "interpolation": (1.0, 0.996),
    "both": (0.997, 0.998),
    "asymmetric": (0.856, 0.997),
}
"""Mean over splits, with initial weights of at most 1e-3 times the usual ones and with the usual ones."""
