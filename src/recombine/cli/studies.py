"""Commands on studies: the demo, reproducing a paper, listing claims, writing a results page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.shared import (
    JobsOption,
    JsonOption,
    OffsetOption,
    QuietOption,
    ScaleOption,
    StoreOption,
    check_page_path,
    keeps_results,
    say,
    say_json,
    say_table,
)
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.studies import Reproduction


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


def reproduce(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study's name; `recombine claims` lists them.")
    ],
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    claim: Annotated[
        list[str] | None, typer.Option("--claim", metavar="NUMBER", help="Only this claim; can be repeated.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the store already has.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Also write a page with the claims and figures (.html or .md)."
        ),
    ] = None,
    store: StoreOption = None,
    jobs: JobsOption = 2,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a paper's experiments and decide its claims."""
    from recombine import studies
    from recombine.report import print_document
    from recombine.runs import Store
    from recombine.studies.results_page import results_document
    from recombine.studies.trial_progress import TrialProgress

    chosen = studies.load(study)
    check_page_path(out)
    keeps_results(store)
    with TrialProgress(chosen.cost, quiet=quiet) as shown:
        reproduction = studies.reproduce(
            chosen,
            scale=scale,
            seed_offset=seed_offset,
            claims=claim or (),
            store=Store(store),
            jobs=jobs,
            fresh=fresh,
            on_event=shown,
            on_plan=lambda trials: shown.expect({chosen.name: trials}),
        )
    document = results_document(reproduction, figures=out is not None, quiet=quiet)
    if as_json:
        say_json(reproduction.to_dict())
    else:
        print_document(document)
        say(f"\n{closing_line(reproduction, out, store)}")
    if out is not None:
        document.write(out)


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

    names = [study] if study is not None else list(studies.STUDIES)
    results = [studies.recall(name, scale=scale, store=Store(store)) for name in names]
    if as_json:
        say_json([result.listing() for result in results])
        return
    for result in results:
        say(f"{result.study.name} · {result.study.reference}\n")
        say_table(claims_table(result))


def report(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study's name; `recombine claims` lists them.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .html or .md file (default: STUDY.html here)."),
    ] = None,
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    compare: Annotated[
        int | None,
        typer.Option(
            "--compare",
            metavar="N",
            help="Also show the stored results with this seed offset, for comparison.",
        ),
    ] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a study's page with claims and figures from stored results; nothing is run."""
    from recombine import studies
    from recombine.runs import Store
    from recombine.studies.results_page import results_document

    chosen = studies.load(study)
    check_page_path(out)
    opened = Store(store)
    result = studies.recall(chosen, scale=scale, seed_offset=seed_offset, store=opened)
    if not result.evidence:
        raise InputError(
            "store", str(opened.path), f"results of {study}; run `recombine reproduce {study}` first"
        )
    others: list[tuple[str, int]] = [(s, seed_offset) for s in studies.SCALES if s not in {scale, "smoke"}]
    others += [(scale, compare)] if compare is not None and compare != seed_offset else []
    more = [studies.recall(chosen, scale=s, seed_offset=offset, store=opened) for s, offset in others]
    document = results_document(result, more=[other for other in more if other.evidence], quiet=quiet)
    path = document.write(out or Path(f"{study}.html"))
    if as_json:
        say_json(result.to_dict() | {"page": str(path)})
    else:
        say(closing_line(result, path, store))


def closing_line(reproduction: Reproduction, page: Path | None, store: Path | None = None) -> str:
    """How many claims hold, and where the page is or how to get it."""
    counts = " · ".join(f"{reproduction.count(word)} {word}" for word in ("holds", "fails", "undecided"))
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
