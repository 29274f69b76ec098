"""Running a case: a command in this process, a call, or a separate process, always as plain JSON."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path.cwd()
"""Where the program was started: the checkout whose benchmarks are run."""
PER_KIND = 40
"""Planted models of every kind."""


def command(words: list[str]) -> dict[str, Any]:
    """Runs `recombine` with `words`: its exit status, what it printed, what it wrote, and how it complained."""
    from recombine.cli import main

    for left_over in Path().glob("out-*"):
        left_over.unlink()
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["recombine", *words]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
        status: Any = 0
    except SystemExit as ended:
        status = ended.code
    except Exception as error:  # a crash is kept, too
        status = f"raised-{type(error).__name__}"
        traceback.print_exc(file=err)
    finally:
        sys.argv = before
    result: dict[str, Any] = {"status": status, "output": _parsed(out.getvalue(), "--json" in words)}
    if status != 0:
        result |= complaint(err.getvalue())
    files = {path.name: _content(path) for path in sorted(Path().glob("out-*"))}
    return plain(result | ({"files": files} if files else {}))


def call(work: Callable[[], Any], *, cells: bool = False) -> dict[str, Any]:
    """What `work()` gives, by its `to_dict()` if it has one; with `cells` also its table of cells."""
    import recombine

    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            result = work()
            output = result.to_dict() if hasattr(result, "to_dict") else result
            record = {"status": 0, "output": output} | ({"cells": _columns(result.cells())} if cells else {})
    except recombine.InputError as error:
        record = {"status": "raised-InputError"} | complaint(f"error: {error}")
    return plain(record)


def study(name: str) -> dict[str, Any]:
    """A study at scale smoke from an empty store: its claims, and all numbers of its trials, sorted by column."""
    store, table = Path(f"store-{name}"), Path(f"{name}.parquet")
    result = _process("reproduce", name, "--scale", "smoke", "--json", "--store", str(store))
    exported = _process("runs", "export", str(table), "--store", str(store))
    if exported["status"] == 0:
        result["trials"] = _sorted_numbers(table)
    return plain(result)


def planted_matrix() -> dict[str, Any]:
    """The confusion matrix of planted models: counts by kind, totals, and every miss."""
    words = [sys.executable, "-m", "benchmarks", "planted", "--per-kind", str(PER_KIND)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    if done.returncode:
        return {"status": done.returncode} | complaint(done.stderr)
    # A miss is "KIND SEED: FINDINGS; NOTE"; the notes are prose.
    misses = re.findall(r"^\s*(\w+) (\d+): ([\w, ]+);", done.stdout, flags=re.MULTILINE)
    totals = re.findall(r"^[^\n]*: (\d+) of (\d+)", done.stdout, flags=re.MULTILINE)
    counts = re.findall(r"^\s*(\w+)((?:\s+\d+)+)\s+[\d.]+ ?%", done.stdout, flags=re.MULTILINE)
    return {
        "status": 0,
        "counts": {kind: [int(number) for number in numbers.split()] for kind, numbers in counts},
        "totals": [[int(number) for number in pair] for pair in totals],
        "misses": {f"{kind}-{seed}": sorted(names.split(", ")) for kind, seed, names in misses},
        "text": done.stdout,
    }


def complaint(text: str) -> dict[str, Any]:
    """The last line of an error, how many lines there are, and which field it names."""
    lines = text.strip().splitlines() or [""]
    named = re.match(r"error: ([^:]+): got", lines[-1])
    return {"lines": len(lines), "stderr": lines[-1], "field": named[1] if named else None}


def plain(value: Any) -> Any:
    """Plain JSON, without the name of the working folder."""
    text = json.dumps(value, default=_as_json).replace(json.dumps(os.getcwd())[1:-1], "FOLDER")
    return json.loads(text)


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def _parsed(text: str, is_json: bool) -> Any:
    try:
        return json.loads(text) if is_json and text else text
    except json.JSONDecodeError:
        return {"unreadable": text}


def _process(*words: str) -> dict[str, Any]:
    """The command in a separate process, since a study starts others."""
    code = "from recombine.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    result = {"status": done.returncode, "output": _parsed(done.stdout, "--json" in words)}
    return result if done.returncode == 0 else result | complaint(done.stderr)


def _content(path: Path) -> Any:
    """The columns of a table; of a page only that it is there."""
    import polars as pl

    if path.suffix == ".csv":
        return _columns(pl.read_csv(path))
    return _columns(pl.read_parquet(path)) if path.suffix == ".parquet" else path.stat().st_size > 0


def _columns(frame: Any) -> dict[str, list[Any]]:
    return frame.to_dict(as_series=False)


def _sorted_numbers(path: Path) -> dict[str, Any]:
    """Sorted, since the order of trials in a store depends on their keys."""
    import polars as pl

    frame = pl.read_parquet(path)
    result: dict[str, Any] = {"rows": len(frame), "statuses": sorted(frame["status"])}
    for name, kind in frame.schema.items():
        if (kind.is_numeric() or kind == pl.Boolean) and name != "seconds":
            result[name] = frame[name].drop_nulls().sort().to_list()
    return result
