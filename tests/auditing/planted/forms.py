"""How predictions are written down: labels as words, whole numbers or scores; numbers in any unit."""

from __future__ import annotations

import numpy as np

NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]


def as_labels(
    rng: np.random.Generator, target: np.ndarray, predictions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str]:
    """Of classes by row; columns of scores are in the order of the sorted labels."""
    count = int(target.max()) + 1
    words, scored = rng.random() < 0.5, rng.random() < 0.35
    if words:
        labels = np.array(sorted(rng.permutation(NAMES)[:count]))
    elif scored or rng.random() < 0.6:
        labels = np.arange(count)
    else:
        labels = np.sort(rng.choice(20, size=count, replace=False))
    note = f"{'words' if words else 'ints'} {'as scores' if scored else ''}".strip()
    return labels[target], scores(rng, predictions, count) if scored else labels[predictions], note


def scores(rng: np.random.Generator, predictions: np.ndarray, count: int) -> np.ndarray:
    """`(rows, classes)`, the prediction first by a margin, as logits or as probabilities; alike for a constant."""
    shape = (1 if (predictions == predictions[0]).all() else len(predictions), count)
    logits = rng.normal(size=shape)
    logits = np.broadcast_to(logits, (len(predictions), count)).copy()
    margin = np.broadcast_to(rng.uniform(0.2, 2, size=shape[0]), len(predictions))
    logits[np.arange(len(predictions)), predictions] = logits.max(axis=1) + margin
    if rng.random() < 0.5:
        return logits
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def as_numbers(
    rng: np.random.Generator, target: np.ndarray, predictions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str]:
    """Of numbers by row: a single output as `(rows,)`, some unit and offset, at times single precision."""
    kind = np.float32 if rng.random() < 0.3 else np.float64
    if rng.random() < 0.5:
        unit, zero, note = 1.0, 0.0, ""
    else:
        unit, zero = 10 ** rng.uniform(-2, 3), float(rng.normal(scale=2))
        note = f", unit {unit:.3g}, zero at {zero:.2f}"
    results = [(unit * (values + zero)).astype(kind) for values in (target, predictions)]
    if target.ndim == 2 and target.shape[1] == 1:
        results = [values[:, 0] for values in results]
    return results[0], results[1], f"{target.shape[1]} outputs, {kind.__name__}{note}"


def as_images(
    rng: np.random.Generator, target: np.ndarray, predictions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str]:
    """Of images by row: in units of 1 or 255."""
    white = float(rng.choice([1, 1, 255]))
    kind = np.float32 if rng.random() < 0.5 else np.float64
    note = f"{target.shape[1]}x{target.shape[2]} images, white {white:g}, {kind.__name__}"
    return (white * target).astype(kind), (white * predictions).astype(kind), note
