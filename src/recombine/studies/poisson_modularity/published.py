"""Published numbers that claims and figures use.

From the authors' public code and the outcomes printed in it, unless stated otherwise.
"""

SINES: tuple[dict[str, tuple[float, ...]], ...] = (
    {
        "amplitude": (0.784913, 0.700609, 0.859174, 0.724108),
        "frequency": (1.313161, 1.479035, 1.237395, 0.857357),
        "phase": (4.383000, 3.112341, 5.957863, 3.598351),
    },
    {
        "amplitude": (0.990109, 0.864170, 0.991805, 0.914445),
        "frequency": (1.376820, 0.702525, 1.766784, 0.408722),
        "phase": (1.589535, 2.731876, 4.897007, 1.242092),
    },
    {
        "amplitude": (0.710317, 0.972796, 0.777634),
        "frequency": (2.655062, 1.672791, 2.256190),
        "phase": (3.435082, 1.161475, 6.092080),
    },
)
"""The main task (seed 145), the task for modules in front of a dense block (seed 4), and the composition (seed 42)."""
FIRST_ROW = (-1.303291, -1.631225, -1.726323, 1.674598)
HELD_OUT_CELLS = (7, 10, 14, 18, 20, 22, 23, 28, 38, 42, 51, 53, 63)
"""Cells of the composition, numbered column + 8 row."""
COUNTS = (2038, 3994, 1912, 999)
"""Numbers of rows of the wedge and of the composition, seen and unseen; counted by us, not published."""
SUM_SQUARES = {
    "Noise0": 43.72,
    "Noise1": 36.61,
    "Noise2": 28.42,
    "L2": 22.39,
    "L1 1e-3": 10.39,
    "Act": 34.96,
    "WA": 26.09,
    "WA sigmoid": 148.5,
    "WA tanh": 29.51,
}
TRAIN_ERROR = {
    "Noise0": 0.00266,
    "Noise1": 0.00356,
    "Noise2": 0.00227,
    "L2": 0.00010,
    "L1 1e-3": 0.06876,
    "Act": 0.00010,
    "WA": 0.00009,
    "WA sigmoid": 0.06256,
    "WA tanh": 0.00024,
}
"""With noise, in regimes that have noise."""
REGIONS = {
    ("wedge", "modular"): (1e-6, 1e-6),
    ("wedge", "full"): (4e-6, 8.08e-4),
    ("wedge", "bottleneck"): (2e-6, 2.783e-3),
    ("composition", "modular"): (1.5e-5, 1.8e-5),
    ("composition", "full"): (2.3e-5, 1.38e-4),
    ("composition", "bottleneck"): (2.5e-5, 7.08e-4),
}
"""Error on the seen and on the unseen region."""
READOUT = (
    (0.0464, 0.1019, 0.7242, 0.0021),
    (0.0280, 0.0036, 0.1707, 0.0016),
    (0.0060, 0.0035, 0.0204, 0.0023),
    (0.0306, 0.0027, 0.0138, 0.0034),
    (0.0025, 0.0032, 0.0182, 0.0021),
)
"""Error of the best affine prediction of every function from its module, modules of one to five layers."""
FILM = {2: (0.0269, 0.7416), 4: (0.2575, 0.7655), 8: (0.6509, 0.9006)}
"""Eigenvalues N and N + 1 of the head on rolls of N CIFAR-10 images."""
GRID_TEST_ERROR = {16: 0.3502, 81: 0.09398, 256: 0.01488}
RANDOM_TEST_ERROR = {16: 0.1148, 81: 0.001156, 256: 0.0002252}
CORRELATED_TEST_ERROR = {0.0: 0.3083, 0.25: 0.0007241, 0.5: 0.0002077, 1.0: 0.0003840}
"""From the public code of a follow-up study (Haskel, Qian & Fiete), one seed."""
NOISY_ERROR = {
    "L2": (4.8e-2, 2.1e-2, 1.7e-2),
    "WA": (8.5e-2, 1.3e-2, 3.8e-3),
    "WA alpha 1": (6.1e-2, 1.0e-2, 3.6e-3),
    "Noise2": (3.9e-2, 6.4e-3, 2.3e-3),
    "Noise1": (8.6e-3, 3.8e-3, 3.5e-3),
    "Noise0": (3.1e-3, 4.1e-3, 9.4e-3),
    "Act": (2.1e-1, 2.6e-2, 5.9e-3),
    "L1 1e-4": (5.3e-2, 2.7e-2, 2.3e-2),
}
"""Not published: measured once in another implementation, one seed, unequal lengths of training; exponents 0, 1, 2."""
