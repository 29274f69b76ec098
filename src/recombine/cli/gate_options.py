"""The options with which an audit is a gate: conditions, a baseline, and files for continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.auditing import AuditComparison, AuditReport
    from recombine.auditing.export import Destination
    from recombine.auditing.gate import Baseline

FailOnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITIONS",
        help="A gate for continuous integration: exit with status 1 if one of these holds: does-not-compose, shortcut, "
        "memorisation-leak, superposition, additive-only, or any other finding; undecided; model-error; "
        "'unseen > 0.3', 'seen > 0.1', 'unseen/seen > 2', 'gap > 0.1', 'transfer < 0.9', 'any output > 0.5', each "
        "beyond noise ('estimate: unseen > 0.3' compares the estimate); with --baseline, worse or "
        "'worse > 0.05'. Several with commas; 'v2: unseen > 0.3' is about one of several models.",
    ),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Let --fail-on compare estimates, not the ends of 95% intervals.")
]
BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="An earlier audit, written by --json: say what got better or worse since, beyond noise.",
    ),
]
SummaryOption = Annotated[
    bool, typer.Option("--summary", help="Print one line per model instead of the report, for a log.")
]
JUnitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write JUnit XML (.xml): a test per condition of --fail-on, or per finding without it.",
    ),
]
ExportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--export",
        metavar="KIND:PLACE",
        help="Write metrics: mlflow:FOLDER (or a tracking address, with mlflow installed), wandb:FOLDER, json:FILE, "
        "csv:FILE. Several times for several places.",
    ),
]


@dataclass(frozen=True)
class Gate:
    """The options of a gate, once they have been checked."""

    conditions: Sequence[str]
    strict: bool
    baseline: Baseline | None
    junit: Path | None
    destinations: Sequence[Destination]

    @property
    def files(self) -> list[tuple[str, Path | None]]:
        """The files that `write` writes, each with its option."""
        exports = [("export", one.path) for one in self.destinations if not one.is_folder]
        return [("junit", self.junit), *exports]

    @property
    def folders(self) -> list[tuple[str, Path | None]]:
        """The folders to which `write` adds runs, each with its option."""
        return [("export", one.path) for one in self.destinations if one.is_folder]

    def apply(self, report: AuditReport | AuditComparison, seed: int) -> AuditReport | AuditComparison:
        """The report with what changed since the baseline, and with what the gate decides."""
        if self.baseline is not None:
            report = report.compared_with(self.baseline, seed=seed)
        return report.gated(self.conditions, strict=self.strict) if self.conditions else report

    def write(self, report: AuditReport | AuditComparison) -> list[tuple[str, str]]:
        """Writes the files that were asked for and returns what each is and where."""
        from recombine.auditing import AuditComparison
        from recombine.auditing.gate import write_junit

        reports = report.reports if isinstance(report, AuditComparison) else {"": report}
        written = []
        # servers first: a file can be checked before the audit, a server's answer cannot
        for one in sorted(self.destinations, key=lambda one: not one.is_server):
            written += [(f"Metrics ({one.kind})", place) for place in one.write(reports)]
        if self.junit is not None:
            write_junit(reports, self.junit)
            written.append(("JUnit", str(self.junit)))
        return written


def read_gate(
    fail_on: Sequence[str] | None,
    *,
    strict: bool,
    baseline: Path | None,
    junit: Path | None,
    export: Sequence[str] | None,
    models: Sequence[str],
) -> Gate:
    """Checks the options of a gate, before anything is run."""
    from recombine.auditing.export import parse_destination
    from recombine.auditing.gate import parse_conditions, read_baseline

    if fail_on is not None:
        conditions = parse_conditions(fail_on, models=models, strict=strict, field="fail-on")
        changes = [one for one in conditions if one.needs_baseline]
        if changes and baseline is None:
            raise InputError(
                "fail-on", str(changes[0]), "a baseline to compare with (--baseline previous.json)"
            )
    elif strict:
        raise InputError("strict", strict, "conditions to go with it (--fail-on)")
    if junit is not None and junit.suffix.lower() != ".xml":
        raise InputError("junit", str(junit), "a file name that ends in .xml")
    if junit is not None and not junit.absolute().parent.is_dir():
        raise InputError("junit", str(junit), "a file in a folder that exists")
    destinations = [parse_destination(text) for text in export or ()]
    earlier = None if baseline is None else read_baseline(baseline)
    return Gate(tuple(fail_on or ()), strict, earlier, junit, destinations)


def fail_if_closed(report: AuditReport | AuditComparison) -> None:
    """Ends the command with status 1 if the gate failed, and says on standard error why."""
    if report.gate is None or report.gate.passed:
        return
    for one in report.gate.failed:
        typer.echo(f"failed on {one.name}: {one.sentence}", err=True)
    raise typer.Exit(1)
