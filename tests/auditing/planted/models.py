"""Models that fail, fitted on training cells; predictions for every cell."""

from __future__ import annotations

import numpy as np
from tests.auditing.planted.checks import is_labels
from tests.auditing.planted.designs import Design, one_hot

from recombine.theory import OverlapKernel, min_norm, random_network


def nearest(rng: np.random.Generator, design: Design, target: np.ndarray) -> tuple[np.ndarray, str]:
    """The target of the nearest seen cell: by levels in common, or by how far levels are apart."""
    how = str(rng.choice(["shared, at random", "shared, first row", "apart", "apart, weighted"]))
    cells, seen = design.grid.cells, np.flatnonzero(design.seen)
    if how.startswith("shared"):
        far = -design.shared.astype(float)
    else:
        scale = rng.uniform(0.5, 2, size=cells.shape[1]) if "weighted" in how else np.ones(cells.shape[1])
        far = (np.abs(cells[~design.seen][:, None] - cells[seen]) * scale).sum(axis=2)
    if how == "shared, first row":
        tie = np.broadcast_to(design.first_row[seen], far.shape) / len(design.cell)
    else:
        tie = rng.random(far.shape)
    predictions = target.copy()
    predictions[~design.seen] = target[seen[np.lexsort((tie, far.round(9)), axis=1)[:, 0]]]
    return predictions, f"nearest: {how}"


def least_squares(design: Design, target: np.ndarray, *, by_row: bool) -> np.ndarray:
    """The sum of main effects that fits training best, every cell alike or by its training rows."""
    features = one_hot(design.grid.cells, design.grid.sizes)
    weight = np.sqrt(design.weight[design.seen] if by_row else np.ones(design.seen.sum()))[:, None]
    fitted = np.linalg.lstsq(features[design.seen] * weight, target[design.seen] * weight, rcond=None)[0]
    return features @ fitted


def draw_kernel(rng: np.random.Generator, factors: int) -> tuple[OverlapKernel, str]:
    """Saliences by order with much for whole cells, or those of a deep random network."""
    if rng.random() < 0.5:
        salience = np.append(rng.uniform(0, 1), rng.uniform(0.05, 0.5, size=factors))
        salience[-1] = rng.uniform(0.5, 4)
        return OverlapKernel.by_order(salience), f"saliences {salience.round(2).tolist()}"
    kind = str(rng.choice(["relu", "quadratic", "gaussian", "step", "ntk"]))
    depth = int(rng.integers(1, 11))
    if kind == "ntk":
        return random_network(factors, depth, kind="ntk"), f"ntk of {depth} layers"
    return random_network(factors, depth, kind), f"{kind} of {depth} layers"


def smallest_norm(design: Design, target: np.ndarray, kernel: OverlapKernel, *, offset: bool) -> np.ndarray:
    """The kernel machine of minimum norm, one per output."""
    cells, train = design.grid.cells, design.grid.cells[design.seen]
    gram, across = kernel.gram(train), kernel.gram(cells, train)
    columns = [min_norm(gram, column, offset=offset)(across) for column in target[design.seen].T]
    return np.stack(columns, axis=1)


def majority(design: Design, target: np.ndarray, axis: int) -> np.ndarray:
    """For every cell the most frequent class among training rows with its level of one factor."""
    assert is_labels(target)
    index = design.grid.cells[:, axis]
    votes = np.zeros((design.grid.sizes[axis], target.max() + 1))
    np.add.at(votes, (index, target), design.weight)
    return votes.argmax(axis=1)[index]
