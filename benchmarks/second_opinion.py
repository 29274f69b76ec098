"""The render net trained by PyTorch alone: do seeds vary there as much as here, and is the unseen region stretched?

It uses only the task's arrays and three metrics of `recombine`; initial weights, order of batches and optimiser are
PyTorch's own.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks import peers
from recombine import Part
from recombine.metrics import position_accuracy, squared_error
from recombine.metrics.geometry import metric_summary, metric_tensor
from recombine.report import Column, Row, Table, number, percent, table_text
from recombine.spaces import corner_hole
from recombine.tasks import bumps, one_hot

WEIGHTS = {"no penalty": (0.0, 0.0), "both penalties": (0.1, 0.01)}


def render_nets(seeds: list[int], epochs: int, arms: list[str]) -> str:
    """Trains one net per seed and arm; a table of errors, of unseen bumps in the right position and of volumes.

    The last column is the mean log10 volume element of the images of unseen cells minus that of seen ones.
    """
    task = bumps(
        n=32,
        sigma=1.5,
        hole=Part(corner_hole, low=12),
        encoding=one_hot,
        polarity="bright",
        pixels="half",
    )
    inputs, targets = torch.tensor(task.inputs), torch.tensor(task.targets)
    train, unseen = torch.tensor(task.train), task.rows_out
    steps = epochs * -(-len(train) // 32)
    rows = []
    for seed in seeds:
        for name in arms:
            weights = WEIGHTS[name]
            torch.manual_seed(seed)
            net = peers.RenderNet(32)
            optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
            batches = (train[index] for index in peers.shuffled(len(train), 32, steps))
            penalty = (lambda net=net, weights=weights: net.penalty(*weights)) if any(weights) else None
            peers.train(net, inputs, targets, batches, optimiser, penalty=penalty)
            with torch.no_grad():
                outputs = net(inputs).numpy()
            error = squared_error(outputs, task.targets)
            assert task.latents is not None
            right = position_accuracy(outputs[unseen], task.latents[unseen], "bright", 1).mean()
            geometry = metric_tensor(
                task.split.space.grid(outputs[np.argsort(task.cell)].reshape(len(outputs), -1))
            )
            gap = metric_summary(geometry, task.split.seen)["volume_gap"]
            entries = [number(error[task.rows_in].mean()), number(error[unseen].mean()), percent(right)]
            entries.append(f"{gap:+.3f}")
            rows.append(Row([str(seed), name, *entries]))
    columns = [Column("seed", "right"), Column("net")]
    columns += [
        Column(name, "right") for name in ("seen error", "unseen error", "unseen position ± 1", "volume gap")
    ]
    return table_text(Table(columns, rows, caption=f"{epochs} epochs, PyTorch {torch.__version__}"))
