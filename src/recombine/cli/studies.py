"""Commands on studies: the demo, reproducing a paper, listing claims, writing a results page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.shared import (
    JobsOption,
    JsonOption,
    OffsetOption,
    OnOption,
    QuietOption,
    ScaleOption,
    SharedStoreOption,
    StoreOption,
    WorkersOption,
    check_page_path,
    keeps_results,
    say,
    say_json,
    say_table,
    workers,
)
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.runs import Trial
    from recombine.runs.trial_progress import TrialProgress
    from recombine.studies import Reproduction, Study


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The report (.html or .md).")] = Path(
        "recombine-demo.html"
    ),
    seed_offset: OffsetOption = 0,
    store: StoreOption = None,
    jobs: JobsOption = 2,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Watch a standard decoder fail on unseen combinations, see why, and see two remedies (about 3 minutes)."""
    from recombine.studies.demo import run_demo, task_statement

    check_page_path(out)
    keeps_results(store)
    if not as_json:
        say(task_statement())
    result = run_demo(seed_offset=seed_offset, store=store, jobs=jobs, quiet=quiet)
    page = result.page().write(out)
    if as_json:
        say_json(result.to_dict() | {"report": str(page)})
    else:
        say(result.results_text())
        say(f"\nReport: {page}        Next: recombine advise --help · recombine reproduce --help")


StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study's name, or `all`; `recombine claims` lists them.")
]


def reproduce(
    study: StudyArgument,
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            "--claim", metavar="NUMBER", help="This claim instead of the headlines; can be repeated."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All claims that the scale can decide, not only the headlines.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", metavar="N", help="Seeds per arm, instead of the number that the study sets."
        ),
    ] = None,
    until_decided: Annotated[
        bool,
        typer.Option("--until-decided", help="Judge at 7, 12 and 20 seeds; only open claims get more seeds."),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the store already has.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Also write a page with the claims and figures (.html or .md)."
        ),
    ] = None,
    store: StoreOption = None,
    jobs: WorkersOption = None,
    on: OnOption = "local",
    shared_store: SharedStoreOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a paper's headline claims (or all of them) and decide each by its effect and interval."""
    from recombine import studies
    from recombine.report import print_document
    from recombine.runs import Store
    from recombine.runs.trial_progress import TrialProgress
    from recombine.studies.results_page import terminal_document

    chosen = _studies(study, together_with={"--claim": claim, "--out": out})
    check_page_path(out)
    keeps_results(store)
    results = []
    for one in chosen:
        with TrialProgress(one.cost, quiet=quiet) as shown:
            expect = partial(_expect, shown, one.name)
            result = studies.reproduce(
                one,
                scale=scale,
                seed_offset=seed_offset,
                claims=claim or (),
                everything=everything,
                seeds=seeds,
                until_decided=until_decided,
                store=Store(store),
                jobs=workers(jobs, on),
                on=on,
                shared_store=shared_store,
                fresh=fresh,
                on_event=shown,
                on_plan=expect,
            )
        results.append(result)
        if not as_json:
            print_document(terminal_document(result))
            say(f"\n{closing_line(result, out, store)}\n")
    if as_json:
        say_json([result.to_dict() for result in results] if study == ALL else results[0].to_dict())
    if out is not None:
        results[0].document().write(out)


def claims(
    study: Annotated[str | None, typer.Argument(metavar="STUDY", help="One study; default: all.")] = None,
    scale: ScaleOption = "quick",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the claims with their sources, published values, and the verdicts from stored results."""
    from recombine import studies
    from recombine.runs import Store
    from recombine.studies.results_page import claims_table

    results = [studies.recall(one, scale=scale, store=Store(store)) for one in _studies(study or ALL)]
    if as_json:
        say_json([result.to_dict() for result in results])
        return
    for result in results:
        say(f"{result.study.name} · {result.study.reference}\n")
        say_table(claims_table(result))


def report(
    study: StudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="A .html or .md file (default: STUDY.html here); with `all`, a folder for one page per study.",
        ),
    ] = None,
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", metavar="N", help="Seeds per arm, instead of the number that the study sets."
        ),
    ] = None,
    compare: Annotated[
        int | None,
        typer.Option(
            "--compare", metavar="N", help="Show the stored results with this seed offset side by side."
        ),
    ] = None,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided", help="Judge open claims at 7, 12 and 20 seeds, as far as these were run."
        ),
    ] = False,
    recorded: Annotated[
        Path | None,
        typer.Option(
            "--recorded",
            metavar="PATH",
            help="Numbers per seed of an earlier page (its .csv file, or their folder), for claims that the store has "
            "not measured.",
        ),
    ] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a study's page with claims, figures and numbers per seed from stored results; nothing is run."""
    from recombine.runs import Store
    from recombine.studies.results_files import recall_results, write_overview, write_results

    chosen = _studies(study)
    if study != ALL:
        check_page_path(out)
    opened = Store(store)
    if recorded is not None and not recorded.exists():
        raise InputError("--recorded", str(recorded), "a file or folder that exists")
    options: dict[str, Any] = {
        "scale": scale,
        "seed_offset": seed_offset,
        "seeds": seeds,
        "compare": compare,
        "recorded": recorded,
    }
    found = []
    for one in chosen:
        path = out or Path(f"{one.name}.html")
        if study == ALL:
            path = (out or Path("results")) / f"{one.name}.md"
        results = recall_results(one, store=opened, until_decided=until_decided, **options)
        write_results(results, path, quiet=quiet)
        found.append(results)
        if not as_json:
            say(closing_line(results.main, path, store))
    if study == ALL:
        write_overview(found, (out or Path("results")) / "README.md")
    if as_json:
        dicts = [results.main.to_dict() for results in found]
        say_json(dicts if study == ALL else dicts[0])


ALL = "all"


def _studies(name: str, *, together_with: Mapping[str, object] | None = None) -> list[Study]:
    """The studies that a command was asked for; `all` does not go together with options for one study."""
    from recombine import studies

    if name != ALL:
        return [studies.load(name)]
    for option, value in (together_with or {}).items():
        if value:
            raise InputError(option, value, "one study, not `all`")
    return [studies.load(known) for known in studies.STUDIES]


def _expect(shown: TrialProgress, label: str, trials: Sequence[Trial]) -> None:
    shown.expect({label: trials})


def closing_line(reproduction: Reproduction, page: Path | None, store: Path | None = None) -> str:
    """How many claims have which verdict, and where the page is or how to get it."""
    from recombine.studies import VERDICTS

    counts = " · ".join(f"{reproduction.count(name)} {name}" for name in VERDICTS if reproduction.count(name))
    where = f"Full page: {page}"
    if page is None:
        options = {
            "--scale": "" if reproduction.scale == "quick" else reproduction.scale,
            "--seed-offset": reproduction.seed_offset or "",
            "--store": store or "",
        }
        words = "".join(f" {name} {value}" for name, value in options.items() if value)
        where = f"Full page: recombine report {reproduction.study.name}{words}"
    return f"{counts}        {where}"
