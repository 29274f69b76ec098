"""What the weighted-activity penalty costs: a step with and without it, the same in PyTorch, and all regimes."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Row, in_turns, median_ratio

TIMES_PLAIN, TIMES_PYTORCH, MINUTES = 1.5, 8, 4
"""The goals: at most, at least, at most."""
NAME = "4-32-32-32-4 leaky, batch 200"
REGIMES = ("Noise0", "Noise1", "Noise2", "L2", "L1 1e-3", "Act", "WA", "WA sigmoid", "WA tanh")
"""The nine regimes of the authors' notebook."""


def steps(*, repeats: int) -> list[Row]:
    """One training step with weighted activity and L2, compared with L2 alone and with eager PyTorch; on one core."""
    from benchmarks import peers
    from benchmarks.training import Case, against_pytorch, compiled, per_step
    from recombine.nets import leaky_relu, mlp
    from recombine.parts import Part
    from recombine.remedies import l2, weighted_activity
    from recombine.tasks import modular_task
    from recombine.training import Penalty, Recipe, adam

    squares, weighted = Penalty(Part(l2), 1e-4), Penalty(Part(weighted_activity), 1e-3)
    recipe = Recipe(
        steps=5000, batch=200, sampling="ordered", optimiser=adam(1e-3), penalties=(squares, weighted)
    )
    net = Part(mlp, inputs=4, width=32, depth=3, outputs=4, activation=Part(leaky_relu, slope=0.1))
    case = Case(
        f"{NAME}, weighted activity and L2",
        net,
        lambda: peers.LeakyNet(4, 32, 32, 32, 4),
        modular_task(),
        recipe,
        goal=TIMES_PYTORCH,
    )
    plain = replace(case, recipe=replace(recipe, penalties=(squares,)))
    penalised, alone = in_turns(compiled(case), compiled(plain), repeats=repeats)
    detail = {"with µs/step": per_step(penalised, 5000), "L2 alone µs/step": per_step(alone, 5000)}
    ratio = median_ratio(penalised, alone)
    return [
        Row(case.name, "times the CPU time of L2 alone", ratio, TIMES_PLAIN, False, detail),
        against_pytorch(case, repeats=repeats),
    ]


def regimes(*, jobs: int = 2) -> Row:
    """The nine published regimes with three seeds each, 50,000 steps, in worker processes from an empty store."""
    from recombine.runs import Store, execute
    from recombine.studies import load

    arms = load("poisson-modularity").arms("quick")
    trials = [trial for name in REGIMES for trial in arms[name].trials(seeds=3)]
    runs = sum(len(trial.seeds) for trial in trials)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        results = execute(trials, Store(Path(folder) / "store"), jobs=jobs)
        minutes = (time.perf_counter() - started) / 60
    detail = {"runs": float(runs), "seconds per run and core": minutes * 60 * jobs / runs}
    assert len(results) == len(trials)
    return Row(
        f"{len(trials)} regimes on four sines, {jobs} jobs", "minutes", minutes, MINUTES, False, detail
    )
