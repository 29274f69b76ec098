"""Writing what a study found: its page, its numbers per seed, and the overview of all studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recombine.data import write_table
from recombine.errors import InputError
from recombine.runs import Store
from recombine.studies.per_seed import per_seed_table
from recombine.studies.recorded import read_recorded, with_recorded
from recombine.studies.recorded_tables import write_tables
from recombine.studies.reproduction import Reproduction, recall
from recombine.studies.results_page import filled_tables, overview_document, results_document
from recombine.studies.study import Study


@dataclass(frozen=True)
class StudyResults:
    """What is known about a study: one run, and others that are shown next to it.

    - `others`: a replication with other seeds, and the run at the published sizes, where there are any.
    - `recorded`: the folder with the figures and tables of recorded runs, if such runs were read.
    """

    main: Reproduction
    others: tuple[Reproduction, ...]
    recorded: Path | None = None


def recall_results(
    study: Study,
    *,
    store: Store,
    scale: str = "quick",
    seed_offset: int = 0,
    seeds: int | None = None,
    until_decided: bool = False,
    compare: int | None = None,
    recorded: Path | None = None,
) -> StudyResults:
    """Reads a study's results from the store, and from a file of numbers per seed.

    **Arguments:**

    - `until_decided`: judge open claims at 7, 12 and 20 seeds, as far as these were run.
    - `compare`: the seed offset of a replication.
    - `recorded`: the file of an earlier page, or the folder that has it; used for claims that the store has not
        measured, or has measured with fewer seeds.
    """
    file = _recorded_file(study, recorded)
    numbers = None if file is None else read_recorded(file)

    def run(scale: str, offset: int, **options: Any) -> Reproduction:
        found = recall(study, scale=scale, seed_offset=offset, store=store, **options)
        return found if numbers is None else with_recorded(found, numbers)

    options: dict[str, Any] = {"seeds": seeds, "until_decided": until_decided}
    main = run(scale, seed_offset, **options)
    if not main.measured:
        raise InputError(
            "store", str(store.path), f"results of {study.name}; run `recombine reproduce {study.name}` first"
        )
    others = []
    if compare is not None and compare != seed_offset:
        others.append(run(scale, compare, **options))
    if scale != "paper":
        others.append(_with_other_arms(run("paper", seed_offset), main))
    folder = None if file is None else file.with_suffix("")
    return StudyResults(main, tuple(run for run in others if run.measured), folder)


def _recorded_file(study: Study, recorded: Path | None) -> Path | None:
    """The file itself, or the study's file in a folder; a folder need not have one."""
    if recorded is None or not recorded.is_dir():
        return recorded
    file = recorded / f"{study.name}.csv"
    return file if file.exists() else None


def write_results(results: StudyResults, path: Path, *, quiet: bool = False) -> None:
    """Writes a study's page, next to it a CSV file with the numbers per seed, and its tables for later pages."""
    numbers = path.with_suffix(".csv")
    document = results_document(
        results.main,
        others=results.others,
        per_seed_file=numbers.name,
        recorded=results.recorded,
        quiet=quiet,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    document.write(path)
    write_table(per_seed_table([results.main, *results.others]), numbers)
    write_tables(filled_tables(results.main, results.recorded), path.with_suffix(""))


def _with_other_arms(other: Reproduction, result: Reproduction) -> Reproduction:
    """The outcomes at another scale that rest on other trials; arms without training are often the same."""
    mine, theirs = (
        {name: plan.trial for name, plan in result.study.arms(scale).items()}
        for scale in (result.scale, other.scale)
    )
    outcomes = [o for o in other.outcomes if any(mine.get(arm) != theirs.get(arm) for arm in o.claim.needs)]
    return replace(other, outcomes=tuple(outcomes))


def write_overview(results: Sequence[StudyResults], path: Path) -> None:
    """Writes the headline tables of all studies on one page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    overview_document([(one.main, one.others) for one in results]).write(path)
