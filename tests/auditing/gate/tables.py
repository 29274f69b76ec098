"""A small table, and audits of predictions for it."""

import numpy as np

from recombine import audit

A, B = np.indices((6, 7)).reshape(2, -1)
SEEN = (3 * A + 2 * B) % 4 > 0
TRUTH = 1.5 * A + B
COLOUR = np.array(["red", "blue", "green", "pink", "cyan", "grey"])[A]


def audited(prediction, **changes):
    arguments = {"factors": {"colour": COLOUR, "size": B}, "seen": SEEN, "target": TRUTH}
    return audit(**(arguments | changes), prediction=prediction)


def failing():
    """Predicts nothing for unseen cells."""
    return audited(np.where(SEEN, TRUTH, 0.0))


def composing():
    return audited(TRUTH)
