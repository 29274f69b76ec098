"""The command line. Every command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.cli.commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Runs the command line and ends the process.

    Exit codes: 0 success; 1 trials failed, or a gate (`--fail-on`) was hit; 2 bad input or an unusable store, with
    one line on standard error; 130 Ctrl-C, with one line that says what is kept; 141 nobody reads the output any more.
    """
    # Before anything heavy is imported, so that Ctrl-C works from the first moment.
    from recombine.cli.interrupts import Interrupts

    with Interrupts():
        from recombine.cli.commands import run

        code = run()
    sys.exit(code)


def __getattr__(name: str) -> Any:
    if name == "app":
        from recombine.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
