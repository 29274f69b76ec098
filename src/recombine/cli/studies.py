"""Commands on studies: the demo, reproducing, listing claims, reporting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.shared import (
    IdleJobsOption,
    JobsOption,
    JsonOption,
    OffsetOption,
    ScaleOption,
    StoreOption,
    check_page_path,
    say,
    say_json,
    say_table,
)
from recombine.errors import InputError


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
        say_table(outcomes_table(found.outcomes, sources=found.study.sources))
        say()
        say(closing_line(found, out, store))
    if out is not None:
        results_page(found).write(out)


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
