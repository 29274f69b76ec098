"""Diagonal linear networks: steps of a grid against eager PyTorch, the dual programme at size, the theory's curves."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import Row, in_turns, median_ratio

FEATURES, KNOWN = 1000, 40
TIMES_PYTORCH, NEWTON_SECONDS = 8, 3.0
CURVE_SECONDS = 240.0
"""Two minutes of two cores."""
CELLS, STEPS = 4, 400


def rows(*, repeats: int) -> list[Row]:
    """All of it on one core."""
    return [*(steps(n, repeats=repeats) for n in (32, 128)), newton(), curves()]


def steps(n: int, *, repeats: int) -> Row:
    """One step of gradient descent in double precision, per network: four networks in one program, or one by one."""
    import jax.numpy as jnp
    import torch

    from recombine.tasks import sphere_inputs
    from recombine.training import descend

    rng = np.random.default_rng(0)
    x = np.stack([sphere_inputs(n, FEATURES, rng) for _ in range(CELLS)])
    y = x[:, :, :KNOWN].sum(axis=2) / KNOWN**0.5
    theta = np.full((CELLS, 4, FEATURES), 1e-3)

    def loss(weights, data):
        beta = weights[0] * weights[1] - weights[2] * weights[3]
        return jnp.mean((data[0] @ beta - data[1]) ** 2)

    def ours() -> None:
        descend(loss, theta, (x, y), rate=0.01, target=1e-30, steps=STEPS, test_every=STEPS)

    def eager() -> None:
        for cell in range(CELLS):
            inputs, targets = (torch.as_tensor(a[cell]) for a in (x, y))
            weights = torch.full((4, FEATURES), 1e-3, dtype=torch.float64, requires_grad=True)
            optimiser = torch.optim.SGD([weights], lr=0.01)
            for _ in range(STEPS):
                optimiser.zero_grad()
                beta = weights[0] * weights[1] - weights[2] * weights[3]
                ((inputs @ beta - targets) ** 2).mean().backward()
                optimiser.step()

    theirs, mine = in_turns(eager, ours, repeats=repeats)
    per_step = 1e6 / (STEPS * CELLS)
    return Row(
        f"diagonal networks, {FEATURES} features, {n} rows",
        "times less CPU time than PyTorch",
        median_ratio(theirs, mine),
        TIMES_PYTORCH,
        True,
        {
            "PyTorch µs/step": float(np.median(theirs)) * per_step,
            "recombine µs/step": float(np.median(mine)) * per_step,
        },
    )


def newton() -> Row:
    """The limit of training with 512 rows, by Newton's method on the dual problem."""
    from recombine.tasks import sphere_inputs
    from recombine.theory import DiagonalWeights, min_diagonal_penalty

    x = sphere_inputs(512, FEATURES, np.random.default_rng(0))
    y = x[:, :KNOWN].sum(axis=1) / KNOWN**0.5
    penalty = DiagonalWeights.constant(FEATURES, w=1e-3, v=1e-3).penalty()
    started = time.process_time()
    solution = min_diagonal_penalty(x, y, penalty)
    took = time.process_time() - started
    detail = {"residual": solution.residual, "steps": float(solution.steps)}
    return Row(
        f"dual Newton, {FEATURES} features, 512 rows", "s of CPU time", took, NEWTON_SECONDS, False, detail
    )


def curves() -> Row:
    """All limits of Figures 2 and 3: five overlaps and sparsities, four rescalings, six numbers of rows, six draws."""
    from recombine.tasks import diagonal_teachers
    from recombine.theory import predict_transfer

    started = time.process_time()
    for active, overlap in ((40, 40), (40, 20), (40, 0), (5, 5), (5, 0)):
        for seed in range(6):
            pair = diagonal_teachers(inputs=FEATURES, known=KNOWN, active=active, overlap=overlap, seed=seed)
            aux, main = (teacher.coefficients for teacher in pair)
            predict_transfer(
                aux, main, [16, 32, 64, 128, 256, 512], [1, 0.1, 0.01, 0.001], draws=1, seed=seed
            )
    took = time.process_time() - started
    return Row("limits of Figures 2 and 3, 6 draws", "s of CPU time", took, CURVE_SECONDS, False, {})
