"""Where metrics go: `mlflow:FOLDER`, `wandb:FOLDER`, `json:FILE` or `csv:FILE`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from recombine.auditing.export.mlflow_files import is_address, local_folder, write_mlflow
from recombine.auditing.export.tracked_run import is_installed, tracked_run
from recombine.auditing.export.wandb_files import write_wandb
from recombine.data.argument_types import shown
from recombine.data.export import csv_bytes
from recombine.data.tables import did_you_mean
from recombine.durable import write_file
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

KINDS = ("mlflow", "wandb", "json", "csv")


@dataclass(frozen=True)
class Destination:
    """Where metrics are written: `kind` is one of `KINDS`, `place` a folder, a file or a server."""

    kind: str
    place: str

    @property
    def is_server(self) -> bool:
        """Whether metrics go to a tracking server."""
        return self.kind == "mlflow" and is_address(self.place)

    @property
    def is_folder(self) -> bool:
        """Whether every audit is added to a folder, rather than written to a file."""
        return self.kind in {"mlflow", "wandb"}

    @property
    def path(self) -> Path | None:
        """The file or folder; `None` for a tracking server."""
        if self.is_server:
            return None
        return local_folder(self.place) if self.kind == "mlflow" else Path(self.place)

    def write(self, reports: Mapping[str, AuditReport]) -> list[str]:
        """Writes the metrics of every model and says where they are.

        **Arguments:**

        - `reports`: by model; a single one by the name `""`.
        """
        writers = {"mlflow": write_mlflow, "wandb": write_wandb}
        if self.kind in writers:
            return [writers[self.kind](self.place, tracked_run(report)) for report in reports.values()]
        path = Path(self.place)
        metrics = {name: report.metrics() for name, report in reports.items()}
        if self.kind == "json":
            plain: Any = metrics[""] if list(metrics) == [""] else metrics
            write_file(path, f"{json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode())
        else:
            rows = [
                (name, one, value) for name, of_model in metrics.items() for one, value in of_model.items()
            ]
            schema = {"model": pl.String, "metric": pl.String, "value": pl.Float64}
            frame = pl.DataFrame(rows, schema=schema, orient="row")
            write_file(path, csv_bytes(frame.drop("model") if list(metrics) == [""] else frame))
        return [str(path)]


def parse_destination(text: Any, field: str = "export") -> Destination:
    """Reads a destination.

    ```python
    >>> from recombine.auditing.export import parse_destination
    >>> parse_destination("mlflow:runs")
    Destination(kind='mlflow', place='runs')

    ```
    """
    expected = "mlflow:FOLDER (or a tracking address), wandb:FOLDER, json:FILE or csv:FILE"
    if not isinstance(text, str):
        raise InputError(field, shown(text), expected)
    kind, _, place = text.partition(":")
    kind, place = kind.strip().casefold(), place.strip()
    if kind not in KINDS:
        raise InputError(field, text, expected + did_you_mean(kind, KINDS, "kinds"))
    if not place or "\0" in place:
        raise InputError(field, text, expected)
    destination = Destination(kind, place)
    if not destination.is_folder and Path(place).suffix.lower() != f".{kind}":
        raise InputError(field, text, f"a file name that ends in .{kind}")
    if destination.is_server and not is_installed("mlflow"):
        raise InputError(field, text, "a folder, or a tracking server with the package mlflow installed")
    return destination
