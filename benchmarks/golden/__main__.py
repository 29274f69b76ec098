"""Records golden outputs, or compares what the code at hand says with them.

    python -m benchmarks.golden record FOLDER               all groups, about 6 minutes on 2 cores
    python -m benchmarks.golden compare FOLDER --skip studies,planted
    python -m benchmarks.golden compare FOLDER --only advise,audit --text

Run it in the checkout that is to be tested, with its `src` first on PYTHONPATH. Groups: advise, audit, models,
modularity, interaction, claims (quick); studies, planted (minutes). `--match TEXT` picks cases by name. `compare`
prints one line per case and exits with status 1 if a key, number, code or exit status differs; other wording is only
counted, and shown with `--text`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

EXAMPLES = ("animals.csv", "predictions.csv")


def main() -> int:
    """Parses the command line and runs the cases that it asks for."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.golden",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("folder", type=Path, help="of golden outputs")
    parser.add_argument("--only", metavar="GROUPS", help="with commas")
    parser.add_argument("--skip", metavar="GROUPS", default="", help="with commas")
    parser.add_argument(
        "--match", metavar="TEXT", default="", help="only cases whose group-name contains TEXT"
    )
    parser.add_argument("--text", action="store_true", help="show everything that differs, texts too")
    options = parser.parse_args()
    golden = options.folder.absolute()
    golden.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="golden-") as work:
        _prepare(Path(work), golden, record=options.what == "record")
        try:
            return _run(options, golden)
        finally:
            os.chdir(golden)


def _prepare(work: Path, golden: Path, *, record: bool) -> None:
    """A folder with all input files to run in; tables of the examples are kept with the golden outputs."""
    import recombine
    from benchmarks.golden import data
    from benchmarks.golden.running import CHECKOUT

    print(f"code: {Path(recombine.__file__).parent}", flush=True)
    os.environ["RECOMBINE_HOME"] = str(work / "home")
    os.environ["COLUMNS"] = "120"
    source = (CHECKOUT / "examples") if record else golden / "inputs"
    for name in EXAMPLES:
        shutil.copy(source / name, work)
        if record:
            (golden / "inputs").mkdir(exist_ok=True)
            shutil.copy(source / name, golden / "inputs")
    data.write_all(work)
    # Sub-processes run elsewhere, so a relative PYTHONPATH must not stay relative.
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(str(CHECKOUT / path) for path in paths if path)
    sys.path[:] = [str(CHECKOUT / path) for path in sys.path]
    os.chdir(work)
    warnings.simplefilter("ignore")


def _run(options: argparse.Namespace, golden: Path) -> int:
    from benchmarks.golden.cases import all_cases
    from benchmarks.golden.compare import difference

    cases = all_cases()
    groups = list(dict.fromkeys(case.group for case in cases))
    chosen = set((options.only or ",".join(groups)).split(",")) - set(options.skip.split(","))
    if unknown := (chosen | set(filter(None, options.skip.split(",")))) - set(groups):
        print(
            f"error: groups: got {', '.join(sorted(unknown))}, expected some of {', '.join(groups)}",
            file=sys.stderr,
        )
        return 2
    tally: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for case in cases:
        full = f"{case.group}-{case.name}"
        if case.group not in chosen or options.match not in full:
            continue
        started, path = time.perf_counter(), golden / f"{full}.json"
        try:
            output = case.run()
        except Exception as error:  # kept like any output, so that the other cases still run
            output = {"status": f"raised-{type(error).__name__}", "stderr": str(error)}
        took = time.perf_counter() - started
        seconds[case.group] += took
        if options.what == "record":
            path.write_text(json.dumps(output, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{full:<44} status {output.get('status', '-')}   {took:.1f} s", flush=True)
            tally["recorded"] += 1
            continue
        if not path.exists():
            print(f"{full:<44} NEW: nothing was recorded", flush=True)
            tally["new"] += 1
            continue
        change = difference(json.loads(path.read_text(encoding="utf-8")), output, case.rtol)
        tally["DIFFERENT" if change.changed else "text differs" if change.texts else "same"] += 1
        wording = f"{len(change.texts)} texts differ, {change.other_numbers} of them in their numbers"
        if change.changed:
            more = f" (and {len(change.changed) - 1} more)" if len(change.changed) > 1 else ""
            print(f"{full:<44} DIFFERENT: {change.changed[0]}{more}", flush=True)
        else:
            print(f"{full:<44} {wording if change.texts else 'same'}", flush=True)
        if options.text:
            for line in change.changed[1:]:
                print(f"    {line}")
            for where, old, new in change.texts:
                print(f"    {where}\n      - {old}\n      + {new}")
    print(", ".join(f"{count} {word}" for word, count in tally.items()) or "no case was chosen")
    print("seconds: " + ", ".join(f"{group} {value:.0f}" for group, value in seconds.items()))
    return int(bool(tally["DIFFERENT"]))


if __name__ == "__main__":
    sys.exit(main())
