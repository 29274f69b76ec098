"""The command line. Every command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from recombine._version import __version__
from recombine.errors import DatasetError, InputError, StoreError

app = typer.Typer(
    help="Will a neural network handle combinations of familiar parts that it never saw together?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
runs_app = typer.Typer(help="What the store holds.", no_args_is_help=True)
data_app = typer.Typer(
    help="Data sets that can be downloaded; everything works without them.", no_args_is_help=True
)
app.add_typer(runs_app, name="runs")
app.add_typer(data_app, name="data")

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Folder of results (default: $RECOMBINE_HOME or the user's cache)."),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", help="Processes, each on a core of its own; their number changes no result.")
]
IdleJobsOption = Annotated[
    int, typer.Option("--jobs", help="As for reproduce; this command trains nothing, so it changes nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
ScaleOption = Annotated[str, typer.Option("--scale", help="smoke, quick or paper.")]
OffsetOption = Annotated[int, typer.Option("--seed-offset", help="Added to every random seed.")]


def say(line: str = "") -> None:
    """Prints a line for the reader."""
    typer.echo(line)


def say_json(value: Any) -> None:
    """Prints a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say_table(table: Any) -> None:
    """Prints a table: on a terminal coloured and as wide as it, elsewhere as plain text."""
    from recombine.report import print_table

    print_table(table)


def version(asked: bool) -> None:
    """Prints the version and ends."""
    if asked:
        say(f"recombine {__version__}")
        raise typer.Exit


def check_page_path(out: Path | None) -> None:
    """Refuses a page that could not be written, before anything is run."""
    if out is None:
        return
    if out.suffix not in {".html", ".md"}:
        raise InputError("out", str(out), "a file name that ends in .html or .md")
    if not out.absolute().parent.is_dir():
        raise InputError("out", str(out), f"a file in a folder that exists; {out.absolute().parent} does not")


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Will a neural network handle combinations of familiar parts that it never saw together?"""


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = Path("recombine-demo.html"),
    seed_offset: OffsetOption = 0,
    store: StoreOption = None,
    jobs: JobsOption = 2,
    as_json: JsonOption = False,
) -> None:
    """See an ordinary decoder fail on unseen combinations, why, and two remedies that work (3 minutes)."""
    from recombine.studies.demonstration import demonstrate

    check_page_path(out)
    demonstrate(out, seed_offset=seed_offset, store=store, jobs=jobs, as_json=as_json, say=say)


@app.command()
def advise(
    table: Annotated[Path, typer.Argument(help="A CSV or Parquet file with one row per example.")],
    factors: Annotated[str, typer.Option("--factors", help="The factor columns: colour,shape,size.")],
    seen: Annotated[
        str,
        typer.Option("--seen", help="Which rows are for training: COLUMN=VALUE, COLUMN!=VALUE or COLUMN."),
    ],
    order: Annotated[
        str, typer.Option("--order", help="Largest combinations whose effects are allowed to matter.")
    ] = "1,2",
    target: Annotated[str | None, typer.Option("--target", help="The column of labels.")] = None,
    average: Annotated[
        bool, typer.Option("--average", help="Average the labels of rows that show one and the same cell.")
    ] = False,
    salience: Annotated[
        str | None, typer.Option("--salience", help="Of the model's representation, such as relu:3.")
    ] = None,
    cost: Annotated[
        str | None, typer.Option("--cost", help="A column with the cost of adding a row's cell.")
    ] = None,
    ban: Annotated[
        list[str] | None, typer.Option("--ban", help="Cells that cannot be added: size=huge,shape=cat.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Cells that cannot exist, in the same form.")
    ] = None,
    interest: Annotated[
        str, typer.Option("--interest", help="unseen: all cells that training lacks; table: those with rows.")
    ] = "unseen",
    bins: Annotated[
        list[str] | None, typer.Option("--bins", help="Cut a column of numbers into ranges: weight=4.")
    ] = None,
    cells: Annotated[
        Path | None, typer.Option("--cells", help="Write one row per cell of interest (.csv or .parquet).")
    ] = None,
    additions: Annotated[
        Path | None,
        typer.Option("--additions", help="Write the cells to add, for every order (.csv or .parquet)."),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with a picture.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say from a data split alone which unseen combinations a model can know, and which samples to add."""
    from recombine.advice import advise as run
    from recombine.advice.arguments import (
        check_table_path,
        parse_bins,
        parse_cells,
        parse_orders,
        write_table,
    )

    check_page_path(html)
    check_table_path("cells", cells)
    check_table_path("additions", additions)
    found = run(
        table,
        factors=[name.strip() for name in factors.split(",") if name.strip()],
        seen=seen,
        orders=parse_orders(order),
        target=target,
        average=average,
        salience=salience,
        cost=cost,
        ban=[parse_cells("ban", text) for text in ban or ()],
        exclude=[parse_cells("exclude", text) for text in exclude or ()],
        interest=interest,
        bins=parse_bins(bins or ()),
    )
    for path, content in ((cells, found.cells), (additions, found.additions)):
        if path is not None:
            write_table(content(), path)
    if html is not None:
        found.page().write(html)
    if as_json:
        say_json(found.to_dict())
        return
    say(str(found))
    for what, path in (("Cells", cells), ("Additions", additions), ("Page", html)):
        if path is not None:
            say(f"{what}: {path}")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="A study's name; `recombine claims` lists them.")],
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    claim: Annotated[
        list[str] | None, typer.Option("--claim", help="Only this claim; may be given several times.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the store already has.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write a page with table and figures (.html or .md).")
    ] = None,
    store: StoreOption = None,
    jobs: JobsOption = 2,
    as_json: JsonOption = False,
) -> None:
    """Run a paper's experiments and judge its claims."""
    from recombine import studies
    from recombine.runs import Store
    from recombine.studies.display import TrialProgress, closing_line, opening_line, outcomes_table
    from recombine.studies.results_page import results_page

    chosen = studies.load(study)
    check_page_path(out)
    with TrialProgress(chosen.cost) as shown:
        found = studies.reproduce(
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
    if as_json:
        say_json(found.to_dict())
    else:
        say(opening_line(found))
        say()
        say_table(outcomes_table(found.outcomes))
        say()
        say(closing_line(found, out, store))
    if out is not None:
        results_page(found).write(out)


@app.command()
def claims(
    study: Annotated[str | None, typer.Argument(help="One study; default: all.")] = None,
    scale: ScaleOption = "quick",
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """List the claims that can be checked, their sources and published values, and verdicts known so far."""
    from recombine import studies
    from recombine.runs import Store
    from recombine.studies.display import claim_list

    names = [study] if study is not None else list(studies.STUDIES)
    kept = Store(store)
    found = [studies.recall(studies.load(name), scale=scale, store=kept) for name in names]
    if as_json:
        say_json([one.listing() for one in found])
        return
    for one in found:
        say(f"{one.study.name} · {one.study.reference}\n")
        say_table(claim_list(one))


@app.command()
def report(
    study: Annotated[str, typer.Argument(help="A study's name.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A .html or .md file (default: STUDY.html here).")
    ] = None,
    scale: ScaleOption = "quick",
    seed_offset: OffsetOption = 0,
    beside: Annotated[
        int | None, typer.Option("--beside", help="Also show what the store holds for this seed offset.")
    ] = None,
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Write a study's page, claims and figures, from what the store holds; nothing is run."""
    from recombine import studies
    from recombine.runs import Store
    from recombine.studies.display import closing_line
    from recombine.studies.results_page import results_page

    chosen = studies.load(study)
    check_page_path(out)
    kept = Store(store)
    found = studies.recall(chosen, scale=scale, seed_offset=seed_offset, store=kept)
    if not found.evidence:
        raise InputError(
            "store", str(kept.path), f"results of {study}; run `recombine reproduce {study}` first"
        )
    others: list[tuple[str, int]] = [(s, seed_offset) for s in studies.SCALES if s not in {scale, "smoke"}]
    others += [(scale, beside)] if beside is not None and beside != seed_offset else []
    more = [studies.recall(chosen, scale=s, seed_offset=offset, store=kept) for s, offset in others]
    path = results_page(found, more=[m for m in more if m.evidence]).write(out or Path(f"{study}.html"))
    if as_json:
        say_json(found.to_dict() | {"page": str(path)})
    else:
        say(closing_line(found, path, store))


@runs_app.command("list")
def runs_list(store: StoreOption = None, jobs: IdleJobsOption = 1, as_json: JsonOption = False) -> None:
    """List the finished trials."""
    from recombine.runs import Store
    from recombine.studies.display import runs_table

    kept = Store(store)
    entries = list(kept.entries())
    if as_json:
        say_json([entry.to_dict() for entry in entries])
    elif not entries:
        say(f"The store is empty: {kept.path}")
    else:
        say_table(runs_table(entries))
        say(f"\n{len(entries)} results in {kept.path}")


@runs_app.command("show")
def runs_show(
    key: Annotated[str, typer.Argument(help="A trial's key, or its first letters.")],
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Show one trial: its settings and its numbers."""
    from recombine.runs import Store
    from recombine.studies.display import result_heading, result_table

    result = Store(store).find(key)
    if as_json:
        say_json(result.to_dict())
    else:
        say(result_heading(result))
        say()
        say_table(result_table(result))


@runs_app.command("export")
def runs_export(
    path: Annotated[Path, typer.Argument(help="A .parquet or .csv file.")],
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Write one row per trial and seed to a table file."""
    from recombine.runs import Store, export

    results = list(Store(store).results())
    written = export(results, path)
    if as_json:
        say_json({"path": str(written), "trials": len(results)})
    else:
        say(f"{len(results)} trials written to {written}")


@runs_app.command("clear")
def runs_clear(
    key: Annotated[str, typer.Argument(help="Only keys that begin with this.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Delete results from the store."""
    from recombine.runs import Store

    kept = Store(store)
    count = sum(entry.key.startswith(key) for entry in kept.entries())
    if count and not yes:
        if as_json:
            raise InputError("yes", False, "--yes together with --json, since nothing can be asked")
        typer.confirm(f"Delete {count} results from {kept.path}?", abort=True)
    removed = kept.clear(key)
    if as_json:
        say_json({"removed": removed})
    else:
        say(f"{removed} results deleted from {kept.path}")


@data_app.command("list")
def data_list(as_json: JsonOption = False) -> None:
    """List the data sets, what they are for, and whether they are here."""
    from recombine.studies.display import data_table
    from recombine.tasks import datasets

    entries = datasets.available()
    if as_json:
        say_json([entry.to_dict() for entry in entries])
    else:
        say_table(data_table(entries))


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="mnist or cifar10.")], as_json: JsonOption = False
) -> None:
    """Download a data set and check it."""
    from recombine.tasks import datasets

    folder = datasets.fetch(name, say=lambda line: typer.echo(line, err=True))
    say_json({"name": name, "folder": str(folder)}) if as_json else say(f"{name} is in {folder}")


@data_app.command("verify")
def data_verify(
    name: Annotated[str, typer.Argument(help="mnist or cifar10.")], as_json: JsonOption = False
) -> None:
    """Check the files of a data set against their published hashes."""
    from recombine.tasks import datasets

    folder = datasets.verify(name)
    say_json({"name": name, "folder": str(folder), "verified": True}) if as_json else say(
        f"{folder}: as published"
    )


def main() -> None:
    """Runs the command line: bad input and an unusable store are one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        fail("stopped; what is finished is kept", 1)
    except (InputError, StoreError, DatasetError) as error:
        fail(str(error), 2)
    except Exception as error:
        from recombine.runs import ExecutionError

        if isinstance(error, ExecutionError):
            fail(str(error), 1)
        if not hasattr(error, "format_message"):  # what the option parser raises
            raise
        message = " ".join(error.format_message().split())
        fail(message, 2) if message else sys.exit(2)  # empty: help was shown
    sys.exit(code if isinstance(code, int) else 0)


def fail(line: str, code: int) -> NoReturn:
    """Says in one line what is wrong, and ends."""
    typer.echo(f"error: {line}", err=True)
    sys.exit(code)
