"""The two files that rest on runs of this study: `python -m recombine.studies.remedies tune` and `… record`.

`tune` chooses the strength of every remedy on seen cells and writes `chosen_settings.json`, which the study reads;
`record` counts where each remedy helped, and writes `track_record.json`, by which an audit orders what to try.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recombine.auditing.remedies.track_record import FILE
from recombine.runs import Store
from recombine.studies.remedies.track_record import measured_record
from recombine.studies.remedies.tuning import CHOSEN, tune


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m recombine.studies.remedies", description=__doc__)
    parser.add_argument("what", choices=("tune", "record"))
    parser.add_argument("--store", type=Path, help="a folder for the results (default: the user's)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    options = parser.parse_args()
    store = Store(options.store)
    if options.what == "tune":
        CHOSEN.write_text(json.dumps(tune(store=store, jobs=options.jobs), indent=1) + "\n")
    else:
        FILE.write_text(json.dumps(measured_record(store, jobs=options.jobs), indent=1) + "\n")


if __name__ == "__main__":
    main()
