"""Calls `advise`, `audit`, `Split.from_table` and `modularity_report` with wrong types and malformed data.

    python -m benchmarks.fuzz --calls 20000 --seed 0
    python -m benchmarks.fuzz --seed 0 --only 1234          one call again, with its traceback

Every call must end in a result or in an `InputError` of one line, within ten seconds. A call is made from the seed and
its number alone, so an offending call can be repeated by its number. The status is 1 if there is an offending call.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recombine.errors import InputError

MAX_SECONDS = 10.0
"""Of CPU time, which does not depend on what else the machine does."""
ROWS = 24


@dataclass
class Call:
    """One call: the function, its arguments, and how they were made wrong."""

    number: int
    function: str
    arguments: dict[str, Any]
    changes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"call {self.number}: {self.function}, {'; '.join(self.changes) or 'unchanged'}"


@dataclass
class Outcome:
    """How a call ended: a result, an InputError, or something that must not happen (`problem`)."""

    call: Call
    kind: str
    seconds: float
    problem: str = ""


# --- values that fit nothing ---------------------------------------------------------------------------------------


class Hostile:
    """An object that raises whatever is asked of it."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("nothing to iterate")

    def __repr__(self) -> str:
        return "Hostile()"


def oddities(rng: np.random.Generator) -> list[Callable[[], Any]]:
    """Values of all kinds, most of which no argument takes."""
    return [
        lambda: None,
        lambda: True,
        lambda: 0,
        lambda: -1,
        lambda: 3,
        lambda: 2**70,
        lambda: 1.5,
        lambda: float("nan"),
        lambda: float("inf"),
        lambda: 1 + 2j,
        lambda: "",
        lambda: "a",
        lambda: "a,b",
        lambda: "auto",
        lambda: "level",
        lambda: "contains",
        lambda: {"a": "auto"},
        lambda: {"a": True},
        lambda: lambda target, prediction: 0.5,
        lambda: lambda target, prediction: None,
        lambda: "nowhere",
        lambda: "split=train",
        lambda: "split!=train",
        lambda: "split=",
        lambda: "=",
        lambda: "x" * 300,
        lambda: "x" * 5000,
        lambda: "\ud800",
        lambda: "nul\0byte",
        lambda: "-1",
        lambda: "relu:3",
        lambda: "relu:999999999999",
        lambda: "relu:²",
        lambda: b"bytes",
        lambda: Path("/nowhere/at/all.csv"),
        lambda: Path("."),
        list,
        lambda: (),
        dict,
        lambda: set(),
        lambda: [None],
        lambda: [1, 2],
        lambda: ["a", 1],
        lambda: [["a"], ["b"]],
        lambda: [[1, 2], [3]],
        lambda: ["a", "b"],
        lambda: {"a": 1},
        lambda: {"a": "zero"},
        lambda: {1: 2},
        lambda: {"a": None},
        lambda: [{"a": "0"}],
        lambda: [{}],
        lambda: [{"nowhere": 1}],
        lambda: [{"a": [1]}],
        lambda: range(3),
        lambda: iter([1, 2]),
        lambda: object(),
        lambda: Hostile(),
        lambda: print,
        lambda: dict,
        lambda: datetime.date(2020, 1, 1),
        lambda: Decimal("1.5"),
        lambda: np.array(3),
        lambda: np.array([]),
        lambda: np.zeros(ROWS),
        lambda: np.ones(ROWS, dtype=bool),
        lambda: np.zeros((ROWS, 2)),
        lambda: np.ones((ROWS, 1), dtype=bool),
        lambda: np.full(ROWS, np.nan),
        lambda: np.full(ROWS, np.inf),
        lambda: np.arange(ROWS) + 1j,
        lambda: np.array([None] * ROWS, dtype=object),
        lambda: np.array(["a", 1] * (ROWS // 2), dtype=object),
        lambda: np.array(["t"] * ROWS),
        lambda: np.arange(ROWS).astype("datetime64[D]"),
        lambda: np.ma.masked_array(np.arange(ROWS), mask=np.arange(ROWS) % 2),
        lambda: rng.normal(size=(ROWS, 3)),
        lambda: rng.integers(0, 3, size=ROWS),
        lambda: list(range(ROWS)),
        lambda: [2**70] * ROWS,
        lambda: ["\ud800"] * ROWS,
        lambda: pl.Series(range(ROWS)),
        lambda: pd.Series([pd.NA] * ROWS),
        lambda: pl.DataFrame(),
        lambda: pd.DataFrame({"a": [1]}),
        lambda: pl.DataFrame({"a": [1, 2]}).lazy(),
        lambda: [np.ones((2, 2)), np.ones((2, 2))],
        lambda: {"W1": np.ones((3, 2)), "b1": np.zeros(2)},
    ]


# --- tables --------------------------------------------------------------------------------------------------------


def sound_columns(rng: np.random.Generator) -> dict[str, Any]:
    """Two or three factors, a split, labels and predictions."""
    grid = np.array([(a, b) for a in range(4) for b in range(3)] * 2)
    order = rng.permutation(ROWS)
    a, b = grid[order].T
    spelled = [f"a{level}" for level in a] if rng.random() < 0.5 else a
    y = (a + 2 * b).astype(float) if rng.random() < 0.5 else np.array(["even", "odd"])[(a + b) % 2]
    return {
        "a": spelled,
        "b": b,
        "split": np.where((a + b) % 3 == 0, "test", "train"),
        "y": y,
        "p": y if rng.random() < 0.3 else np.roll(y, 1),
        "cost": rng.uniform(size=ROWS).round(3),
        "spare": rng.normal(size=ROWS),
    }


def odd_columns(rng: np.random.Generator) -> list[Callable[[], Any]]:
    """Columns that are malformed, or unusual but sound."""
    pick = rng.integers(0, 3, size=ROWS)
    return [
        lambda: [2**70 + int(level) for level in pick],
        lambda: [2**53 + int(level) for level in pick],
        lambda: ["01", "1", "1.0", "x"] * (ROWS // 4),
        lambda: ["1", "2", "NaN", "3"] * (ROWS // 4),
        lambda: ["Red", "red ", "RED", "blue"] * (ROWS // 4),
        lambda: [f"=cmd|{level}" for level in pick],
        lambda: [None] * ROWS,
        lambda: [""] * ROWS,
        lambda: [" "] * ROWS,
        lambda: ["\ud800", "b"] * (ROWS // 2),
        lambda: ["nul\0", "b"] * (ROWS // 2),
        lambda: ["line\nend", "tab\t,;|\"'"] * (ROWS // 2),
        lambda: ["x" * 300, "y"] * (ROWS // 2),
        lambda: ["x" * 3000, "y"] * (ROWS // 2),
        lambda: [1, "1"] * (ROWS // 2),
        lambda: [True, 2] * (ROWS // 2),
        lambda: [True, False] * (ROWS // 2),
        lambda: [1, 2.5, None] * (ROWS // 3),
        lambda: [float("nan")] * ROWS,
        lambda: [float("inf"), 1.0] * (ROWS // 2),
        lambda: [[1], [2]] * (ROWS // 2),
        lambda: [{"a": 1}] * ROWS,
        lambda: [b"red", b"blue"] * (ROWS // 2),
        lambda: [b"\xff", b"blue"] * (ROWS // 2),
        lambda: [Decimal("1.10"), Decimal("1.1")] * (ROWS // 2),
        lambda: [datetime.date(2020, 1, 1 + int(level)) for level in pick],
        lambda: [object(), 1] * (ROWS // 2),
        lambda: list(range(ROWS)),
        lambda: [0] * ROWS,
        lambda: list(range(ROWS + 1)),
        lambda: [0, 1],
        lambda: "text",
        lambda: 7,
        lambda: None,
        lambda: np.zeros((ROWS, 2)),
        lambda: pick + 1j,
        lambda: pick.astype("datetime64[D]"),
        lambda: pick.astype("timedelta64[s]"),
        lambda: pick.astype(np.float16),
        lambda: pick.astype("S3"),
        lambda: pick.astype(object),
        lambda: np.zeros(ROWS, dtype=[("x", int)]),
        lambda: np.linspace(0, 1e-300, ROWS),
        lambda: 10.0 ** np.arange(ROWS) * 1e284,
        lambda: -pick * 8e307,
        lambda: pl.Series([1, 2] * (ROWS // 2), dtype=pl.UInt64),
        lambda: pl.Series(["u", "v"] * (ROWS // 2), dtype=pl.Categorical),
        lambda: pd.Series(["u", None] * (ROWS // 2), dtype="string"),
        lambda: pd.Series([1, None] * (ROWS // 2), dtype="Int64"),
        lambda: pd.Series(pd.Categorical(["u", "v"] * (ROWS // 2))),
        lambda: Hostile(),
    ]


def in_a_form(rng: np.random.Generator, columns: dict[str, Any], folder: Path) -> tuple[Any, str]:
    """Columns as a mapping, a frame or a file; a form that cannot hold them is left for a mapping."""
    form = str(rng.choice(["mapping", "polars", "pandas", "csv", "parquet", "jsonl", "structured", "rows"]))
    path = folder / f"table.{form}"
    try:
        if form == "pandas":
            return pd.DataFrame(columns), form
        if form == "jsonl":
            listed = [np.asarray(column).tolist() for column in columns.values()]
            lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*listed, strict=True)]
            path.write_text("\n".join(lines))
            return path, form
        if form == "rows":
            listed = [np.asarray(column).tolist() for column in columns.values()]
            return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)], form
        if form == "structured":
            return np.rec.fromarrays(list(columns.values()), names=list(columns)), form
        if form in {"polars", "csv", "parquet"}:
            frame = pl.DataFrame(columns)
            if form == "csv":
                frame.write_csv(path)
            elif form == "parquet":
                frame.write_parquet(path)
            return (frame if form == "polars" else path), form
    except Exception:
        pass
    return columns, "mapping"


def damaged(rng: np.random.Generator, path: Path) -> str:
    """Makes a sound file unsound, and says how."""
    data = path.read_bytes()
    ways: dict[str, Callable[[], bytes]] = {
        "cut": lambda: data[: int(rng.integers(0, len(data)))],
        "carriage returns": lambda: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r"),
        "Windows line ends": lambda: data.replace(b"\n", b"\r\n"),
        "a byte order mark": lambda: b"\xef\xbb\xbf" + data,
        "UTF-16": lambda: data.decode("utf-8", "replace").encode("utf-16"),
        "Latin-1": lambda: data.replace(b"a", b"\xe5", 3),
        "null bytes": lambda: data.replace(b",", b"\0", 2),
        "a quote": lambda: data.replace(b",", b'"', 1),
        "random bytes": lambda: rng.bytes(200),
        "nothing": lambda: b"",
        "a blank line": lambda: data.replace(b"\n", b"\n\n", 2),
        "ragged lines": lambda: data.replace(b",", b",,", 3),
        "semicolons": lambda: data.replace(b",", b";"),
        "a flipped byte": lambda: _flipped(rng, data),
    }
    way = str(rng.choice(list(ways)))
    path.write_bytes(ways[way]())
    return way


def _flipped(rng: np.random.Generator, data: bytes) -> bytes:
    if not data:
        return data
    at = int(rng.integers(0, len(data)))
    return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(0, 8))]) + data[at + 1 :]


def odd_arrays(rng: np.random.Generator, folder: Path) -> Path:
    """A file of arrays, sound or not."""
    kind = str(
        rng.choice(["sound", "object", "text member", "damaged", "claims", "empty", "npy", "safetensors"])
    )
    path = folder / ("arrays.safetensors" if kind == "safetensors" else "arrays.npz")
    sound = {"W1": rng.normal(size=(3, 4)), "W2": rng.normal(size=(4, 2)), "x": rng.normal(size=(ROWS, 3))}
    if kind == "object":
        np.savez(path, **sound, o=np.array([None, {}], dtype=object))
    elif kind == "npy":
        path = folder / "array.npy"
        np.save(path, sound["x"])
    elif kind == "safetensors":
        path.write_bytes(rng.bytes(100))
    elif kind == "claims":  # a header that claims far more than there is
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**45,)}
        )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("W1.npy", buffer.getvalue())
    else:
        np.savez(path, **({} if kind == "empty" else sound))
        if kind == "text member":
            with zipfile.ZipFile(path, "a") as archive:
                archive.writestr("readme.txt", "hello")
        if kind == "damaged":
            path.write_bytes(_flipped(rng, path.read_bytes()))
    return path


# --- calls ---------------------------------------------------------------------------------------------------------

TABLE_ARGUMENTS = ("table", "factors", "seen", "target", "bins", "missing")
ADVISE = (
    *TABLE_ARGUMENTS,
    "orders",
    "average",
    "salience",
    "activations",
    "cost",
    "ban",
    "exclude",
    "interest",
)
AUDIT = (
    *TABLE_ARGUMENTS,
    "prediction",
    "text",
    "parts",
    "top_k",
    "model",
    "inputs",
    "layers",
    "activations",
    "weights",
    "slots",
    "output",
    "kind",
    "classes",
    "unordered",
    "batch",
    "name",
    "seed",
    "progress",
)
SPLIT = ("table", "factors", "seen", "allow_unseen_levels")
MODULARITY = (
    "weights",
    "modules",
    "inputs",
    "outputs",
    "activations",
    "biases",
    "activation",
    "x",
    "y",
    "orientation",
    "permutations",
    "threshold",
    "seed",
    "progress",
)
FUNCTIONS = {"advise": ADVISE, "audit": AUDIT, "from_table": SPLIT, "modularity_report": MODULARITY}
SHARES = (0.45, 0.4, 0.1, 0.05)


def make_call(number: int, seed: int, folder: Path) -> Call:
    """The call of a number: a sound one in which up to three things are made wrong."""
    rng = np.random.default_rng([seed, number])
    function = str(rng.choice(list(FUNCTIONS), p=SHARES))
    if function == "modularity_report":
        matrices = [rng.normal(size=(3, 4)), rng.normal(size=(4, 2))]
        call = Call(number, function, {"weights": matrices, "permutations": 3})
        if rng.random() < 0.3:
            call.arguments["weights"] = odd_arrays(rng, folder)
            call.changes.append("weights from a file")
    else:
        call = Call(number, function, _table_arguments(rng, function))
        _change_columns(rng, call, folder)
    for _ in range(int(rng.choice([0, 1, 2, 3], p=[0.35, 0.45, 0.15, 0.05]))):
        name = str(rng.choice(FUNCTIONS[function]))
        values = oddities(rng)
        which = int(rng.integers(0, len(values)))
        call.arguments[name] = values[which]()
        call.changes.append(f"{name} = {_shown(call.arguments[name])}")
    if function in {"advise", "audit"} and rng.random() < 0.05:
        name = str(
            rng.choice(["activations", "table"] if function == "advise" else ["activations", "weights"])
        )
        call.arguments[name] = odd_arrays(rng, folder)
        call.changes.append(f"{name} = {call.arguments[name].name}")
    return call


def _table_arguments(rng: np.random.Generator, function: str) -> dict[str, Any]:
    columns = sound_columns(rng)
    arguments: dict[str, Any] = {"table": columns, "factors": ["a", "b"], "seen": "split=train"}
    if function == "from_table":
        return arguments | {"allow_unseen_levels": True}
    if rng.random() < 0.2:  # arrays instead of a table
        arguments = {
            "factors": {"a": columns["a"], "b": columns["b"]},
            "seen": columns["split"] == "train",
            "target": columns["y"],
        }
        if function == "audit":
            arguments["prediction"] = columns["p"]
    elif function == "audit":
        arguments |= {"target": "y", "prediction": "p"}
    elif rng.random() < 0.5:
        arguments["target"] = "y"
    if function == "advise":
        arguments["orders"] = [1]
        if rng.random() < 0.1:
            arguments["cost"] = "cost" if "table" in arguments else columns["cost"]
    elif rng.random() < 0.1:
        del arguments["prediction"]
        arguments |= {"model": lambda rows: rows[:, 0], "inputs": rng.normal(size=(ROWS, 2))}
    return arguments


def _change_columns(rng: np.random.Generator, call: Call, folder: Path) -> None:
    """A column that is odd, and the table in another form; a file may be damaged."""
    key = "table" if "table" in call.arguments else "factors"
    columns = call.arguments[key]
    if rng.random() < 0.4:
        name = str(rng.choice(list(columns)))
        odd = odd_columns(rng)
        which = int(rng.integers(0, len(odd)))
        columns[name] = odd[which]()
        call.changes.append(f"column {name} = {_shown(columns[name])}")
    if rng.random() < 0.05:
        columns[str(rng.choice(["", "a ", "\ud800", "x" * 300, "a,b"]))] = rng.normal(size=ROWS)
        call.changes.append("a column with an odd name")
    if key == "table":
        call.arguments[key], form = in_a_form(rng, columns, folder)
        call.changes.append(f"as {form}")
        if isinstance(call.arguments[key], Path) and rng.random() < 0.3:
            call.changes.append(f"with {damaged(rng, call.arguments[key])}")


def _shown(value: Any) -> str:
    text = " ".join(ascii(value).split())
    return f"{type(value).__name__} {text[:60]}"


def run(call: Call) -> Outcome:
    """Makes the call, and looks at what comes back as a user would."""
    from recombine import Split, advise, audit, modularity_report

    functions = {
        "advise": advise,
        "audit": audit,
        "from_table": Split.from_table,
        "modularity_report": modularity_report,
    }
    start = time.process_time()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            result = functions[call.function](**call.arguments)  # type: ignore[operator]
            kind = "result"
            if hasattr(result, "to_dict"):
                json.dumps(result.to_dict())
                str(result)
            if hasattr(result, "cells") and callable(result.cells):
                result.cells()
    except InputError as error:
        kind, problem = "InputError", "" if "\n" not in str(error) else "an error of several lines"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = [one for one in traceback.extract_tb(error.__traceback__) if "recombine" in one.filename]
        where = ours[-1] if ours else last
        kind = "problem"
        problem = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {str(error)[:120]}"
    else:
        problem = ""
    seconds = time.process_time() - start
    if seconds > MAX_SECONDS:
        problem = problem or f"took {seconds:.1f} s"
    return Outcome(call, "problem" if problem else kind, seconds, problem)


def fuzz(calls: int, seed: int, *, first: int = 0, report: Callable[[str], None] = print) -> list[Outcome]:
    """Makes all calls; the offending ones come back, and a summary goes to `report`."""
    kinds: Counter[tuple[str, str]] = Counter()
    offending, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + calls):
            outcome = run(make_call(number, seed, Path(folder)))
            kinds[outcome.call.function, outcome.kind] += 1
            slowest = max(slowest, outcome.seconds)
            if outcome.problem:
                offending.append(outcome)
    report(f"{calls:,} calls with seed {seed}; the slowest took {slowest:.2f} s")
    for (function, kind), count in sorted(kinds.items()):
        report(f"  {function:18} {kind:11} {count:,}")
    for problem, count in Counter(one.problem for one in offending).most_common():
        example = next(one for one in offending if one.problem == problem)
        report(f"{count:5} x {problem}\n        {example.call}")
    return offending


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="make only the call of this number")
    options = parser.parse_args()
    if options.only is None:
        return bool(fuzz(options.calls, options.seed, first=options.first))
    with tempfile.TemporaryDirectory() as folder:
        call = make_call(options.only, options.seed, Path(folder))
        print(call)
        outcome = run(call)
        print(outcome.kind, outcome.problem)
        if outcome.problem:
            from recombine import Split, advise, audit, modularity_report

            functions = {"advise": advise, "audit": audit, "modularity_report": modularity_report}
            functions.get(call.function, Split.from_table)(**call.arguments)
    return bool(outcome.problem)


if __name__ == "__main__":
    sys.exit(main())
