"""Which kernel between cells explains the similarity of a net's images: sharing a factor, or being close by?

The paper's theory says that a decoder acts like a kernel machine for which two cells are similar if they share x *or*
y. The rival is a kernel of the distance between the cells, which is also how similar correct images are. A Gaussian
that is a product over factors cannot tell the two apart, because with equal widths it is a function of the distance.
Here both kernels have one width, one gain and one offset per net, and neither contains the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.metrics.output_similarity import cosine_similarity
from recombine.nets import evaluate
from recombine.probes.decoders import cell_rows, interior_cells, levels_of
from recombine.tasks import Task

Kernel = Callable[[np.ndarray, float], np.ndarray]
"""From differences of levels `(unseen, seen, factors)` and a width to a kernel `(unseen, seen)`."""

WIDTHS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Candidate widths in levels; at 0.25 the kernel of shared factors is the binary kernel to within 4e-4."""
FOLDS = 4


def shared_factor_kernel(
    differences: Float[np.ndarray, "unseen seen factors"], width: float
) -> Float[np.ndarray, "unseen seen"]:
    """1 if some factor is equal, 0 if all are far apart: `1 - prod_k (1 - exp(-d_k² / 2w²))`."""
    near = np.exp(-(differences**2) / (2 * width**2))
    return np.asarray(1 - np.prod(1 - near, axis=-1))


def radial_kernel(
    differences: Float[np.ndarray, "unseen seen factors"], width: float
) -> Float[np.ndarray, "unseen seen"]:
    """1 if all factors are equal, 0 if the cells are far apart: `exp(-|d|² / 2w²)`."""
    return np.asarray(np.exp(-(differences**2).sum(axis=-1) / (2 * width**2)))


KERNELS: dict[str, Kernel] = {"shared": shared_factor_kernel, "radial": radial_kernel}


def similarity_kernels(net: Any, task: Task, *, margin: int) -> dict[str, Any]:
    """How much of the similarity between unseen and seen images each kernel explains, on held-out unseen cells.

    Similarity is the overlap of two images without a threshold, the sum over pixels of the product of their contrasts
    with the background; the cosine is the same after every image has been scaled to unit length. Width, gain and offset
    are fitted on three quarters of the unseen cells and scored on the rest, four times.

    **Arguments:**

    - `margin`: interior cells are more than this many levels away from every seen cell.

    **Returns:**

    - `explained_overlap_shared`, `explained_overlap_radial`, and the same for `cosine`: explained variance, at most 1,
      for interior cells;
    - `explained_overlap_shared_all`, and so on: the same for all unseen cells;
    - `overlap_kernel_width`, `cosine_kernel_width`: the median width of the kernel of shared factors.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering.similarity_kernels import similarity_kernels
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> similarity_kernels(net, task, margin=1)["explained_overlap_shared"] <= 1
    True

    ```
    """
    rows, seen = cell_rows(task)
    levels = levels_of(task, rows).astype(np.float64)
    contrast = (evaluate(net, task.inputs[rows]) - task.blank).reshape(len(rows), -1).astype(np.float64)
    interior = interior_cells(task, margin=margin)[task.cell[rows]]
    values: dict[str, Any] = {}
    for name, matrix in (("overlap", contrast @ contrast.T), ("cosine", cosine_similarity(contrast))):
        for suffix, compared in (("", interior), ("_all", ~seen)):
            fold = np.random.default_rng(0).permutation(int(compared.sum())) % FOLDS
            differences = levels[compared][:, None] - levels[seen][None]
            for kernel, function in KERNELS.items():
                values[f"explained_{name}_{kernel}{suffix}"], width = explained_variance(
                    matrix[np.ix_(compared, seen)], differences, function, fold
                )
                if kernel == "shared" and not suffix:
                    values[f"{name}_kernel_width"] = width
    return values


def explained_variance(
    similarity: Float[np.ndarray, "unseen seen"],
    differences: Float[np.ndarray, "unseen seen factors"],
    kernel: Kernel,
    fold: Int[np.ndarray, " unseen"],
) -> tuple[float, float]:
    """The share of variance that `gain * kernel + offset` explains on held-out rows, and the median width.

    All three are fitted on the other rows. Negative if the mean would have predicted better.
    """
    candidates = {width: kernel(differences, width) for width in WIDTHS}
    residual, total, chosen = 0.0, 0.0, []
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        fits = {width: _line(values[train], similarity[train]) for width, values in candidates.items()}
        width = min(fits, key=lambda w: fits[w][2])
        gain, offset, _ = fits[width]
        chosen.append(width)
        residual += float(((similarity[test] - gain * candidates[width][test] - offset) ** 2).sum())
        total += float(((similarity[test] - similarity[train].mean()) ** 2).sum())
    return 1 - residual / max(total, 1e-300), float(np.median(chosen))


def _line(kernel: np.ndarray, similarity: np.ndarray) -> tuple[float, float, float]:
    """Gain and offset by least squares, and the squared error that is left."""
    centred = kernel - kernel.mean()
    gain = float((centred * similarity).sum() / max(float((centred**2).sum()), 1e-300))
    offset = float(similarity.mean() - gain * kernel.mean())
    return gain, offset, float(((similarity - gain * kernel - offset) ** 2).sum())
