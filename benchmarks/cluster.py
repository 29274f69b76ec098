"""Trials on Ray clusters of 1, 2 and 4 nodes of one core on this machine: efficiency, overhead, sizes, write rate.

Every cluster and its driver have a process of their own and an empty store. More nodes than cores share them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks.measure import Row
from recombine.parts import Part
from recombine.runs import Finished, Result, Store, Trial, complete, run_trial
from recombine.runs.trial import canonical_json
from recombine.training import Recipe, adam

NODES = (1, 2, 4)
MIN_SECONDS = 3.0
"""Trials that are long enough for efficiency to be about the cluster: at least three seconds each."""
TRIED_STEPS, MARGIN = 1000, 1.5
"""How many steps tell how fast this machine is, and how much longer than necessary trials are made."""
N_EMPTY = 400
RATIO, MILLISECONDS = 0.6, 50
"""The goals: time of two nodes / time of one, and overhead per trial."""


def long_trials(steps: int) -> Iterator[Trial]:
    """Two programs, ten learning rates, three seeds."""
    for width in (256, 272):
        for rate in range(10):
            for seed in range(3):
                yield Trial(
                    Part("recombine.tasks:bumps", n=16),
                    probes=(Part("recombine.probes:errors"),),
                    seeds=(seed,),
                    net=Part("recombine.nets:mlp", inputs=32, width=width, depth=3, outputs=(16, 16)),
                    recipe=Recipe(steps=steps, batch=64, optimiser=adam(1e-3 / (1 + rate))),
                )


def empty_trials(n: int) -> Iterator[Trial]:
    """Trials that take no time."""
    for seed in range(n):
        yield Trial(
            Part("recombine.tasks:addition"), probes=(Part("benchmarks.cluster:nothing"),), seeds=(seed,)
        )


def steps_for(seconds: float) -> int:
    """How many steps take that long on this machine, once the program is compiled."""
    trial = next(long_trials(TRIED_STEPS))
    run_trial(trial)
    return round(TRIED_STEPS * seconds / run_trial(trial).seconds)


def nothing(task: Any) -> dict[str, float]:
    """A probe that measures nothing."""
    return {"nothing": 0.0}


def efficiency() -> list[Row]:
    """The same trials on clusters of 1, 2 and 4 nodes, and what sending a trial costs."""
    rows, alone = [], 0.0
    steps = steps_for(MARGIN * MIN_SECONDS)
    for nodes in NODES:
        found = _on_cluster(nodes, "long", steps)
        alone = alone or found["seconds"]
        detail = {
            "seconds": found["seconds"],
            "trials": found["trials"],
            "shortest trial s": found["shortest"],
            "of the time in trials": found["inside"] / (found["seconds"] * min(nodes, os.cpu_count() or 1)),
        }
        goal = RATIO if nodes == 2 else None
        rows.append(
            Row(f"{nodes} of one core", "time / 1 node", found["seconds"] / alone, goal, False, detail)
        )
        if found["shortest"] < MIN_SECONDS:
            rows.append(Row("shortest trial", "seconds", found["shortest"], MIN_SECONDS, True, {}))
    few, many = (_on_cluster(1, "empty", n)["seconds"] for n in (1, N_EMPTY))
    per_trial = 1e3 * (many - few) / (N_EMPTY - 1)
    detail = {"seconds for one": few, f"seconds for {N_EMPTY}": many}
    rows.append(Row("overhead of a trial", "ms", per_trial, MILLISECONDS, False, detail))
    return rows + writing()


def writing(n: int = 2000) -> list[Row]:
    """How fast a driver writes results of a usual size to its store, and how large trials and results are."""
    with tempfile.TemporaryDirectory() as folder:
        trial = next(long_trials(100))
        complete([trial], Store(folder))
        result = next(Store(folder).results())
        store = Store(f"{folder}/written")
        copies: list[Result] = [
            replace(result, trial=replace(trial, seeds=(seed,))) for seed in range(1, n + 1)
        ]
        for copy in copies:
            _ = copy.key
        started = time.perf_counter()
        for copy in copies:
            store.put(copy)
        rate = n / (time.perf_counter() - started)
        size = next(iter((store.path / "results").glob("*.npz"))).stat().st_size
    sent = len(canonical_json(trial).encode())
    return [
        Row(
            "results written by the driver",
            "per second",
            rate,
            None,
            True,
            {"bytes sent": sent, "bytes back": size},
        )
    ]


def _on_cluster(nodes: int, kind: str, n: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.cluster", str(nodes), kind, str(n)]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            command, env=os.environ | {"RECOMBINE_HOME": home}, stdout=subprocess.PIPE, text=True, check=True
        )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> None:
    """One cluster and one driver: seconds from the first trial sent to the last result stored."""
    nodes, kind, n = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    from recombine.runs.on_ray.cluster import QUIET

    os.environ.update(QUIET)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    results: list[Result] = []
    trials = list(long_trials(n) if kind == "long" else empty_trials(n))
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        complete(
            trials,
            Store(folder),
            on=cluster.address,
            on_event=lambda event: results.append(event.result) if isinstance(event, Finished) else None,
        )
        seconds = time.perf_counter() - started
    times = [result.seconds for result in results]
    print(
        json.dumps({"seconds": seconds, "trials": len(times), "shortest": min(times), "inside": sum(times)})
    )
    cluster.shutdown()


if __name__ == "__main__":
    main()
