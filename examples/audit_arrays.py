"""Metrics on arrays from any source: does a decoder add up images instead of composing them?"""

import numpy as np

from recombine import Space, Split
from recombine.metrics import (
    baseline_errors,
    factorisation,
    metric_tensor,
    squared_error,
    superposition_index,
)
from recombine.spaces import centre_hole
from recombine.tasks import bump_images


def main(n: int = 28) -> None:
    space = Space({"x": n, "y": n})
    split = Split(space, ~centre_hole(space, low=6, high=22))
    targets = bump_images(space.cells, n, 1.0)
    # A stand-in for real predictions: right on seen cells, a faint cross of stripes on unseen ones.
    stripes = (
        1
        - (bump_images(space.cells * [1, np.nan], n, 1.0) + bump_images(space.cells * [np.nan, 1], n, 1.0))
        / 2
    )
    outputs = np.where(split.seen[:, None, None], targets, 1 - 0.3 * stripes)

    error = squared_error(outputs, targets)
    baselines = baseline_errors(targets, split.seen, space.cells, blank=1.0)
    index = superposition_index(outputs, targets, space.cells, split.seen)
    print(f"unseen error {error[split.unseen].mean():.4f}, a blank image {baselines['out_blank']:.4f}")
    print(f"correlation with a sum of related seen images {index['mean_with_superposition']:.2f}, ", end="")
    print(f"with the target {index['mean_with_truth']:.2f}")
    print(
        f"factorisation of the images {factorisation(metric_tensor(space.grid(outputs.reshape(n * n, -1)))):.3f}"
    )


if __name__ == "__main__":
    main()
