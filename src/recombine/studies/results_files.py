"""Writing what a study found: its page, its numbers per seed, and the overview of all studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from recombine.data import write_table
from recombine.errors import InputError
from recombine.runs import Store
from recombine.studies.per_seed import per_seed_table
from recombine.studies.reproduction import Reproduction, recall
from recombine.studies.results_page import overview_document, results_document
from recombine.studies.study import Study


def write_results(
    study: Study,
    path: Path,
    *,
    store: Store,
    scale: str = "quick",
    seed_offset: int = 0,
    seeds: int | None = None,
    compare: int | None = None,
    quiet: bool = False,
) -> Reproduction:
    """Writes a study's page from stored results, and next to it a CSV file with the numbers per seed.

    **Arguments:**

    - `compare`: the seed offset of a replication whose verdicts are shown side by side.
    """
    result = recall(study, scale=scale, seed_offset=seed_offset, seeds=seeds, store=store)
    if not result.evidence:
        raise InputError(
            "store", str(store.path), f"results of {study.name}; run `recombine reproduce {study.name}` first"
        )
    replication = None
    if compare is not None and compare != seed_offset:
        replication = recall(study, scale=scale, seed_offset=compare, seeds=seeds, store=store)
    paper = None
    if scale != "paper":
        paper = _with_other_arms(recall(study, scale="paper", seed_offset=seed_offset, store=store), result)
    numbers = path.with_suffix(".csv")
    document = results_document(
        result, replication=replication, at_paper_scale=paper, per_seed_file=numbers.name, quiet=quiet
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    document.write(path)
    runs = [run for run in (result, replication, paper) if run is not None and run.evidence]
    write_table(per_seed_table(runs), numbers)
    return result


def _with_other_arms(other: Reproduction, result: Reproduction) -> Reproduction:
    """The outcomes at another scale that rest on other trials; arms without training are often the same."""
    mine, theirs = (
        {name: plan.trial for name, plan in result.study.arms(scale).items()}
        for scale in (result.scale, other.scale)
    )
    outcomes = [o for o in other.outcomes if any(mine.get(arm) != theirs.get(arm) for arm in o.claim.needs)]
    return replace(other, outcomes=tuple(outcomes))


def write_overview(results: Sequence[Reproduction], path: Path) -> None:
    """Writes the headline tables of all studies on one page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    overview_document(results).write(path)
