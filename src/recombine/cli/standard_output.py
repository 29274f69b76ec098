"""Standard output that cannot be written: a full disk is one line and status 2, a closed pipe ends the command quietly.

Python would print a traceback for either, and a second one when it flushes what is left at the end of the process.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

PIPE_CLOSED = 141
"""What a shell reports for a command that was ended because nobody reads its output: 128 + SIGPIPE."""

_WRITING = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Reasons why an open file cannot be written. For files by name they are wrapped in a `StoreError`."""


def open_output() -> None:
    """Standard output that the caller has closed (`>&-`) is discarded; otherwise the next file would get its number."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the rest of the process


def output_error(raised: BaseException | None = None) -> OSError | None:
    """Why standard output could not be written; `None` if it could, so that `raised` is about something else."""
    # Typer has turned a closed pipe into an exit by now.
    cause = raised.__context__ if isinstance(raised, SystemExit) else raised
    if isinstance(cause, OSError) and cause.errno in _WRITING and cause.filename is None:
        return cause
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def end_output(error: OSError) -> int:
    """Drops what could not be written, says why unless it was a closed pipe, and returns the exit code."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return PIPE_CLOSED
    with suppress(OSError, ValueError):
        reason = error.strerror or str(error)
        sys.stderr.write(f"error: cannot write to standard output: {reason}\n")
        sys.stderr.flush()
    return 2


@contextmanager
def prints_to_standard_error() -> Iterator[None]:
    """A block in which whatever the user's code prints goes to standard error, also in processes started in it."""
    try:
        before = os.dup(1)
    except OSError:  # it is closed
        before = None
    with redirect_stdout(sys.stderr):
        if before is None:
            yield
            return
        try:
            with suppress(OSError):
                os.dup2(2, 1)
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, 1)
            os.close(before)
