"""The worker's side of the pool: a process pinned to one core that runs the trials it is sent.

Orders and replies are JSON. An order is `{"trial", "key", "program", "fresh"}`. Replies are lists that begin with a
word: `ready`, `started`, `progress` (fraction), `done` (from the store?), `busy` (another process is running the
trial), `failed` (one line, traceback), `unstorable` (one line: the store cannot be used).

A worker never gets Ctrl-C, which a terminal sends to all processes of a command: its parent starts it with that signal
blocked, and kills it when the command is to stop.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

from recombine.errors import StoreError
from recombine.runs.leased_run import run_under_lease
from recombine.runs.store import Store
from recombine.runs.trial import Trial, canonical_json, from_json

_PROGRESS_INTERVAL = 0.1


def serve(connection: Connection, store_path: str, core: int | None) -> None:
    """Runs trials until the parent closes the connection or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where signals cannot be blocked
    if core is not None:
        os.sched_setaffinity(0, {core})
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    store, program = Store(store_path), None
    _send(connection, "ready")
    while True:
        try:
            order = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        _send(connection, *_reply(connection, store, order, program))
        program = order["program"]


def order_for(trial: Trial, *, fresh: bool) -> str:
    """The order that asks a worker to run a trial."""
    order = {"trial": canonical_json(trial), "key": trial.key, "program": trial.program, "fresh": fresh}
    return json.dumps(order)


def one_line(error: BaseException) -> str:
    """The kind and message of an exception, without line breaks."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def ordered_trial(order: dict[str, Any]) -> Trial:
    """The trial of an order, if this process would run the same code as the one that sent it."""
    trial = from_json(order["trial"])
    if trial.key != order["key"]:
        raise OtherCodeError("the code was changed while trials were running; run them again")
    return trial


class OtherCodeError(RuntimeError):
    """The code that a trial would run here is not the code that its key stands for."""


def prepare_for(program: str, previous: str | None) -> None:
    """Frees what the `previous` trial compiled, unless the next one has the same program."""
    if previous not in {None, program}:
        from recombine.training.freeing_memory import forget_programs

        forget_programs()


def _reply(
    connection: Connection, store: Store, order: dict[str, Any], program: str | None
) -> tuple[Any, ...]:
    """Runs the trial of an order; `program` is the one that the previous trial compiled."""
    last_report = -math.inf

    def begin() -> None:
        _send(connection, "started")
        prepare_for(order["program"], program)

    def progress(fraction: float) -> None:
        nonlocal last_report
        if time.monotonic() - last_report > _PROGRESS_INTERVAL:
            last_report = time.monotonic()
            _send(connection, "progress", fraction)

    try:
        trial = ordered_trial(order)
        outcome = run_under_lease(trial, store, fresh=order["fresh"], on_start=begin, progress=progress)
    except StoreError as error:
        return "unstorable", str(error)
    except Exception as error:
        return "failed", one_line(error), traceback.format_exc()
    return ("busy",) if outcome is None else ("done", outcome[1])


def _send(connection: Connection, *message: Any) -> None:
    try:
        connection.send_bytes(json.dumps(message).encode())
    except OSError:
        raise SystemExit from None  # nobody listens any more: the parent was interrupted


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # in the middle of training; what the store holds is whole at any moment
