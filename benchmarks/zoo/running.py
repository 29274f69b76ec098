"""Draws and audits kinds and seeds in several processes, each with one thread."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.one_thread import ONE_THREAD
from benchmarks.zoo.judging import Outcome

STABILITY_SEEDS = tuple(range(1, 9))
"""Resampling seeds, besides 0, of draws whose stability is measured."""

Job = tuple[str, int, str | None, bool, bool]


def run_zoo(
    kinds: Sequence[str],
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    cache: Path | None = None,
    stability_seeds: int = 2,
    follow: bool = True,
) -> Iterator[Outcome | str]:
    """Outcomes as they come; a sentence for a draw that was left out.

    **Arguments:**

    - `cache`: a folder for what training gave; `stability_seeds`: the number of seeds of every kind whose audits are
        repeated with eight resampling seeds.
    """
    os.environ.update(ONE_THREAD)  # before the processes start
    todo: list[Job] = [
        (kind, seed, None if cache is None else str(cache), number < stability_seeds, follow)
        for kind in kinds
        for number, seed in enumerate(seeds)
    ]
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs) as pool:
        yield from pool.imap_unordered(run_job, todo, chunksize=1)


def run_job(job: Job) -> Outcome | str:
    """Draws and audits one model."""
    import torch

    from benchmarks.zoo.drawing import draw
    from benchmarks.zoo.judging import judge

    torch.set_num_threads(1)
    kind, seed, cache, stability, follow = job
    try:
        made = draw(kind, seed, None if cache is None else Path(cache))
        if made is None:
            return f"{kind} {seed}: no draw was clear"
        return judge(made, STABILITY_SEEDS if stability else (), follow_remedy=follow)
    except Exception:
        print(f"{kind} {seed}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        return f"{kind} {seed}: raised {traceback.format_exc(limit=-1).splitlines()[-1]}"
