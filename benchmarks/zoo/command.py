"""`python -m benchmarks zoo`: draws, audits and prints."""

from __future__ import annotations

import argparse
import json
import sys
import time

from benchmarks.zoo.judging import Outcome
from benchmarks.zoo.running import run_zoo
from benchmarks.zoo.summary import FRESH_SEEDS, summary_dict, summary_text
from recombine.report import Code, Document, Section, machine, page_footer

DEFAULT_SEEDS = 10


def zoo(options: argparse.Namespace) -> None:
    """Runs the kinds and seeds that the command line asks for; prints the summary and writes it as JSON."""
    from benchmarks.zoo.kinds import KINDS

    kinds = list(KINDS) if options.kinds is None else options.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        sys.exit(f"error: --kinds: got {', '.join(sorted(unknown))}, expected some of {', '.join(KINDS)}")
    count = options.seeds[0] if options.seeds else DEFAULT_SEEDS
    seeds = range(options.seed_offset, options.seed_offset + count)
    outcomes: list[Outcome] = []
    left_out: list[str] = []
    started, total = time.perf_counter(), len(kinds) * len(seeds)
    results = run_zoo(
        kinds,
        seeds,
        jobs=options.jobs,
        cache=options.cache,
        stability_seeds=options.stability,
        follow=not options.no_follow,
    )
    for number, result in enumerate(results, start=1):
        if isinstance(result, Outcome):
            outcomes.append(result)
        else:
            left_out.append(result)
        if number % 20 == 0 or number == total:
            print(f"{number} of {total}, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    order = {kind: number for number, kind in enumerate(kinds)}
    outcomes.sort(key=lambda one: (order[one.kind], one.seed))
    text = summary_text(outcomes, left_out)
    print(text)
    if options.page is not None:
        page = zoo_page(text, len(kinds), seeds)
        page.write(options.page)
    if options.json is not None:
        plain = json.dumps(summary_dict(outcomes, left_out), indent=1, ensure_ascii=False)
        options.json.write_text(plain + "\n", encoding="utf-8")


def zoo_page(text: str, kinds: int, seeds: range) -> Document:
    """The summary as a page."""
    about = (
        f"{kinds} kinds of models, drawn with seeds {seeds.start} to {seeds.stop - 1}, trained with scikit-learn, "
        "PyTorch and JAX, or constructed; what each does was worked out without the audit, by intervention and by "
        "construction (`benchmarks/zoo`). A draw is kept only if its truth is clear and is what its kind shows, so "
        f"these are rates for clear cases. The thresholds of the audit were chosen on seeds below {FRESH_SEEDS}."
    )
    footer = page_footer(command="python -m benchmarks zoo", machine=machine())
    lead = "What does the audit say about real models whose behaviour is known?"
    return Document("A zoo of models", lead, [Section("", [about]), Section("Result", [Code(text)])], footer)
