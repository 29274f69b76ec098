"""One audited model as a run of an experiment tracker: a name, metrics, and what was audited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recombine._version import __version__

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

EXPERIMENT = "recombine"
"""The experiment or project to which runs are added."""


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker stores about one audit.

    **Attributes:**

    - `name`: of the model; `metrics`: finite numbers by name; `params`: what was audited; `verdict`: in words.
    """

    name: str
    metrics: Mapping[str, float]
    params: Mapping[str, str]
    verdict: str


def tracked_run(report: AuditReport) -> TrackedRun:
    """An audit in the form that trackers store."""
    params = {
        "table": report.table.name,
        "factors": ", ".join(report.table.space.names),
        "rows": str(len(report.table.cells)),
        "recombine": __version__,
    }
    return TrackedRun(
        printable(report.model),
        report.metrics(),
        {name: printable(value) for name, value in params.items()},
        printable(report.verdict),
    )


def is_installed(package: str) -> bool:
    """Whether a package can be imported; a folder of this name, such as one that holds runs, does not count."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None


def printable(text: str) -> str:
    """Text in one line, without characters that a tracker's files cannot hold."""
    return "".join(one if one.isprintable() else " " for one in text)[:500].strip() or "unnamed"
