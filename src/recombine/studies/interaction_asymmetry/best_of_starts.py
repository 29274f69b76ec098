"""Training as the theorems ask for it: near an optimum, by taking the best of several short runs further.

Decoders of restricted order have bad minima, in which the slots are mixed and reconstruction is poor. The theorems are
about decoders that fit. So every seed trains several nets for a short time, keeps the one that reconstructs seen rows
best, and trains it on. Only reconstruction chooses; nothing here looks at the true slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.parts import Part
from recombine.studies.interaction_asymmetry.recombination_probes import slot_recovery
from recombine.studies.interaction_asymmetry.task_seed import generator
from recombine.tasks import InteractionTask
from recombine.training import Recipe, adam, fit
from recombine.training.recipe import Schedule

Values = dict[str, Any]
RECORD_ROWS = 1000
RECORDS = 20
WARMUP = 100


def best_of_starts(
    task: InteractionTask,
    *,
    net: Part,
    starts: int,
    short_steps: int,
    further_steps: int,
    rate: float,
    batch: int,
    stop_misfit: float,
) -> Values:
    """Trains `starts` nets for `short_steps`, then the best of them for at most `further_steps`, and probes its slots.

    Misfits are the mean squared error divided by the variance of the outputs. The second stage has a cosine schedule
    and ends early once the misfit on training rows is below `stop_misfit`, so that nets of all kinds end at about the
    same misfit.

    **Returns:**

    Those of `slot_recovery`; `misfit` on rows that were not in training; and `start_misfits` `(starts,)` after the
    short runs.

    ```python
    >>> from recombine import Part, nets
    >>> from recombine.studies.interaction_asymmetry.best_of_starts import best_of_starts
    >>> from recombine.tasks import interaction_task
    >>> hidden = {"hidden": (8,)}
    >>> net = Part(
    ...     nets.slot_autoencoder, shape=(20,), slots=2, width=2, variational=False,
    ...     encoder=Part(nets.dense_slots, **hidden), decoder=Part(nets.additive_decoder, **hidden, shared=False),
    ... )
    >>> task = interaction_task(rows=200, test=100)
    >>> lengths = {"starts": 3, "short_steps": 10, "further_steps": 10}
    >>> values = best_of_starts(task, net=net, **lengths, rate=5e-3, batch=20, stop_misfit=1e-3)
    >>> values["start_misfits"].shape, bool(values["misfit"] > 0)
    ((3,), True)

    ```
    """
    variance = task.targets[task.train].var(axis=0).mean()
    seeds = generator(task).integers(2**32, size=starts).tolist()
    common: dict[str, Any] = {"batch": batch, "optimiser": adam(rate), "record_rows": RECORD_ROWS}
    short = Recipe(steps=short_steps, record_every=short_steps, **common)
    begun = fit(net, task, short, seeds=seeds)
    misfits = np.where(np.array(begun.status) == "diverged", np.inf, begun.curves["in"][:, -1]) / variance
    best = int(misfits.argmin())
    chosen = begun.net(best)
    longer = Recipe(
        steps=further_steps,
        schedule=Schedule("cosine", warmup=WARMUP),
        record_every=max(1, further_steps // RECORDS),
        stop_below=float(stop_misfit * variance),
        **common,
    )
    trained = fit(lambda *, key: chosen, task, longer, seeds=(seeds[best],))
    values = slot_recovery(chosen if trained.status[0] == "diverged" else trained.net(), task)
    return values | {"misfit": 1 - values["fit_r2"], "start_misfits": misfits}
