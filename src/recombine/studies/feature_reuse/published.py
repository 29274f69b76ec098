"""Published numbers that claims, tables and figures show next to ours.

Toy experiments: means over six seeds of the lowest loss over training, relative to learning from scratch with 16 rows.
"""

from __future__ import annotations

Curve = dict[int, float]
"""Values by the number of rows."""


def _curves(n: tuple[int, ...], **by_learner: tuple[float, ...]) -> dict[str, Curve]:
    return {name.replace("_", "-"): dict(zip(n, values, strict=True)) for name, values in by_learner.items()}


N = (16, 32, 128, 512)
DIAGONAL = {
    "5 new features": _curves(
        N,
        scratch=(1, 0.759, 7.4e-5, 2.4e-7),
        multi_task=(1.05, 1.02, 4.2e-4, 4.8e-7),
        finetuned=(1.05, 1.05, 1.0e-3, 4.2e-7),
    ),
    "40 new features": _curves(
        N,
        scratch=(1, 0.996, 0.823, 7.6e-5),
        multi_task=(1.01, 1.01, 0.984, 3.6e-4),
        finetuned=(1.01, 1.01, 1.00, 1.5e-4),
    ),
    "all shared": _curves(
        N,
        scratch=(1, 0.995, 0.730, 1.8e-6),
        multi_task=(0.662, 0.313, 9.3e-6, 1.2e-7),
        finetuned=(0.661, 0.309, 1.9e-7, 2.4e-9),
        probe=(0.636, 0.235, 6.5e-8, 2.0e-9),
    ),
    "30 of 40 shared": _curves(
        N,
        multi_task=(0.818, 0.630, 0.0625, 5.2e-7),
        finetuned=(0.886, 0.671, 0.0288, 8.7e-8),
        probe=(0.842, 0.597, 0.344, 0.179),
    ),
    "half shared": _curves(
        N,
        scratch=(1, 0.996, 0.767, 1.9e-6),
        multi_task=(0.905, 0.855, 0.432, 1.5e-6),
        finetuned=(0.959, 0.954, 0.409, 4.3e-7),
        probe=(0.956, 0.908, 0.626, 0.354),
    ),
}
"""Figure 2a, c, e."""
DIAGONAL_N128 = {
    (condition, learner): DIAGONAL[name][learner][128]
    for condition, name in (
        ("all shared", "all shared"),
        ("half shared", "half shared"),
        ("none shared", "40 new features"),
    )
    for learner in ("scratch", "multi-task", "finetuned")
}
SUBSET = {
    (40, 1.0): {16: 0.624, 32: 0.236, 128: 2.4e-7},
    (40, 0.1): {16: 0.747, 32: 0.483, 128: 2.2e-6},
    (40, 0.01): {16: 0.857, 32: 0.674, 128: 6.9e-5},
    (40, 0.001): {16: 0.923, 32: 0.814, 128: 2.6e-3},
    (5, 1.0): {16: 0.687, 32: 0.135, 128: 1.2e-7},
    (5, 0.1): {16: 0.535, 32: 6.2e-3, 128: 4.9e-9},
    (5, 0.01): {16: 0.555, 32: 2.1e-3, 128: 6.5e-8},
    (5, 0.001): {16: 0.660, 32: 4.4e-3, 128: 1.1e-8},
}
"""Figure 3b, c: finetuning on known features, by their number and the rescaling."""
SUBSET_40_N32 = {scale: SUBSET[40, scale][32] for scale in (1.0, 0.1, 0.01)}
NEW_5_N128 = {1.0: 1.0e-3, 0.1: 9.6e-6}
"""Finetuning on five new features with 128 rows, by the rescaling."""
RELU = {
    "1 new unit": _curves(
        N,
        scratch=(1, 0.136, 2.6e-4, 1.6e-5),
        multi_task=(1.50, 0.346, 9.3e-4, 2.3e-5),
        finetuned=(2.10, 0.793, 2.5e-3, 3.9e-5),
    ),
    "6 new units": _curves(
        N,
        scratch=(1, 0.669, 0.098, 5.9e-4),
        multi_task=(1.18, 0.781, 0.182, 3.4e-3),
        finetuned=(1.41, 1.16, 0.219, 2.2e-3),
    ),
    "all shared": _curves(
        N,
        scratch=(1, 0.704, 0.141, 7.3e-4),
        multi_task=(0.090, 0.031, 3.2e-3, 9.3e-6),
        finetuned=(0.418, 0.176, 3.5e-4, 2.6e-6),
        probe=(1.5e-4, 3.7e-5, 1.5e-5, 8.3e-6),
    ),
    "half shared": _curves(
        N,
        scratch=(1, 0.611, 0.097, 3.9e-4),
        multi_task=(0.759, 0.418, 0.036, 2.3e-4),
        finetuned=(0.806, 0.505, 0.109, 3.2e-4),
        probe=(0.931, 0.659, 0.331, 0.220),
    ),
    "cosine 0.9": _curves(
        N,
        scratch=(1, 0.678, 0.133, 6.1e-4),
        multi_task=(0.464, 0.296, 0.089, 1.0e-3),
        finetuned=(0.533, 0.301, 3.8e-3, 3.9e-6),
        probe=(0.497, 0.331, 0.154, 0.067),
    ),
}
"""Figures 2b, d, f and 4a."""
WEAK_N = (32, 128, 512)
WEAK = {
    1.0: {
        "scratch": dict(zip(WEAK_N, (1, 0.151, 7.4e-4), strict=True)),
        "cosine 1": dict(zip(WEAK_N, (0.340, 3.7e-4, 6.6e-6), strict=True)),
        "cosine 0.9": dict(zip(WEAK_N, (0.430, 0.013, 8.2e-6), strict=True)),
    },
    0.1: {
        "scratch": dict(zip(WEAK_N, (1, 0.167, 1.4e-3), strict=True)),
        "cosine 1": dict(zip(WEAK_N, (7.5e-3, 6.6e-5, 1.2e-5), strict=True)),
        "cosine 0.9": dict(zip(WEAK_N, (0.295, 0.059, 7.2e-4), strict=True)),
    },
    0.01: {
        "scratch": dict(zip(WEAK_N, (1, 0.190, 5.2e-3), strict=True)),
        "cosine 1": dict(zip(WEAK_N, (1.9e-4, 9.6e-5, 4.8e-5), strict=True)),
        "cosine 0.9": dict(zip(WEAK_N, (0.365, 0.107, 0.012), strict=True)),
    },
}
"""Figure 4b, by the magnitude of the main task: one seed, relative to learning from scratch with 32 rows."""
IMAGE_N = (10, 20, 100, 200, 1000)
IMAGES = {
    "ResNet": _curves(
        IMAGE_N,
        multi_task=(0.617, 0.644, 0.726, 0.786, 0.851),
        finetuned=(0.613, 0.636, 0.784, 0.839, 0.897),
        scratch=(0.523, 0.515, 0.588, 0.736, 0.857),
    ),
    "ViT": _curves(
        IMAGE_N,
        multi_task=(0.689, 0.756, 0.744, 0.804, 0.913),
        finetuned=(0.751, 0.836, 0.898, 0.910, 0.933),
        scratch=(0.653, 0.698, 0.772, 0.806, 0.873),
    ),
}
"""Figure 5a, d: accuracy on two classes of CIFAR-100."""
DIMENSIONS = {
    "ResNet": {
        "before": {0.125: 6.80, 1.0: 6.90, 2.0: 6.90},
        "after": {0.125: 2.05, 1.0: 6.75, 2.0: 6.85},
        "shared": {0.125: 2.62, 1.0: 6.70, 2.0: 6.83},
    },
    "ViT": {
        "before": {0.125: 2.00, 1.0: 23.7, 2.0: 66.2},
        "after": {0.125: 2.38, 1.0: 9.41, 2.0: 38.1},
        "shared": {0.125: 0.066, 1.0: 6.69, 2.0: 34.5},
    },
}
"""Figure 5c, f: dimensions of the pooled features or of the last block with 1000 images, by the rescaling."""
PENALTIES_AT_1 = {
    "multi-task": {"1e-3": 0.99900, "1": 0.41421, "1e3": 5.0e-4},
    "finetuning": {"1e-3": 13.2018, "1": 0.934319, "1e3": 1.0e-3},
    "unit, cosine 0.9": {"1e-3": 1.9439, "1": 0.94021, "1e3": 190.0},
}
"""Figure 1: penalties of a main coefficient of 1, by the auxiliary coefficient."""
