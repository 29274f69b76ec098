"""The parent's side of the worker processes: what each is doing, and what happens when one dies."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import Any

from recombine.errors import StoreError
from recombine.runs.events import Event, ExecutionError, Failed, Finished, Progress, Started, Waiting
from recombine.runs.store import Store
from recombine.runs.trial import Trial
from recombine.runs.trial_queue import RETRY_SECONDS, TrialQueue
from recombine.runs.worker import order_for, serve

_log = logging.getLogger(__name__)
_PATIENCE = 1.0
"""Seconds that idle workers are given to end by themselves. Nothing is lost if they do not."""


def run_in_pool(
    queue: TrialQueue, store: Store, *, jobs: int, fresh: bool, emit: Callable[[Event], None]
) -> None:
    """Runs all trials of a queue in up to `jobs` processes.

    Workers have a pipe each and share no lock, so one that is killed at any moment cannot block the others.
    However this function is left, no worker outlives it.
    """
    cores = _cores(jobs)
    workers: list[_Worker] = []
    try:
        while len(queue) or any(worker.trial for worker in workers):
            needed = min(jobs, len(queue) + sum(worker.trial is not None for worker in workers))
            for number in sorted(set(range(needed)) - {worker.number for worker in workers}):
                with _interrupts_held():  # until the worker is in the list, so that it is ended in any case
                    workers.append(_Worker(number, store, cores[number]))
            for worker in workers:
                if not worker.ready or worker.trial is not None:
                    continue
                others = {other.program for other in workers if other.program and other is not worker}
                trial = queue.take(worker.program, others=others)
                if trial is not None and not worker.give(trial, fresh):
                    queue.postpone(trial)
            for blocked in queue.blocked():
                emit(Waiting(blocked, *store.holder(blocked)))
            ready = wait([worker.connection for worker in workers], timeout=RETRY_SECONDS)
            for worker in list(workers):
                if worker.connection in ready or worker.process.exitcode is not None:
                    message = worker.listen()
                    if message is None:
                        workers.remove(worker)
                        _report_death(worker, queue, store, fresh, emit)
                    else:
                        _handle(worker, message, queue, store, emit)
        for worker in workers:
            worker.connection.close()  # which ends an idle worker
        deadline = time.monotonic() + _PATIENCE
        for worker in workers:
            worker.process.join(max(deadline - time.monotonic(), 0.0))
    finally:
        with _interrupts_held():
            running = [worker for worker in workers if worker.process.exitcode is None]
            for worker in running:
                worker.process.kill()
            for worker in workers:
                worker.bury()
            if running:
                store.sweep()  # a worker that is killed in the middle of writing leaves a temporary file


class _Worker:
    def __init__(self, number: int, store: Store, core: int | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, str(store.path), core), name=f"recombine-{number}", daemon=True
        )
        with _single_threaded():
            self.process.start()
        theirs.close()  # so that the worker's end is the only one, and its death closes the pipe
        self.number, self.ready = number, False
        self.trial: Trial | None = None
        self.program: str | None = None

    def give(self, trial: Trial, fresh: bool) -> bool:
        """Sends a trial; false if the worker, idle until now, turns out to be dead."""
        self.trial = trial  # before it is sent: a worker that is interrupted in between has to be ended
        try:
            self.connection.send_bytes(order_for(trial, fresh=fresh).encode())
        except OSError:
            self.trial = None
            return False
        self.program = trial.program
        return True

    def listen(self) -> list[Any] | None:
        """The next message, or `None` if the worker is dead and all its messages have been read."""
        try:
            return list(json.loads(self.connection.recv_bytes())) if self.connection.poll() else None
        except (EOFError, OSError):
            return None

    def bury(self) -> int | None:
        """Frees what belongs to a process that is ending or dead, and returns its exit code."""
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        self.connection.close()
        return code


def _handle(
    worker: _Worker, message: list[Any], queue: TrialQueue, store: Store, emit: Callable[[Event], None]
) -> None:
    word, *rest = message
    if word == "ready":
        worker.ready = True
        return
    trial = worker.trial
    assert trial is not None, "a worker reports only on its current trial"
    if word == "started":
        emit(Started(trial, worker.number))
        return
    if word == "progress":
        emit(Progress(trial, rest[0]))
        return
    worker.trial = None
    if word == "done":
        result = store.get(trial)
        lost = Failed(trial, "its result was stored, but could not be read back")
        emit(lost if result is None else Finished(result, from_store=rest[0]))
    elif word == "busy":
        queue.postpone(trial)
    elif word == "unstorable":
        raise StoreError(rest[0])
    else:
        _log.debug("trial %s failed\n%s", trial.key, rest[1])
        if not queue.retry(trial):
            emit(Failed(trial, rest[0]))


def _report_death(
    worker: _Worker, queue: TrialQueue, store: Store, fresh: bool, emit: Callable[[Event], None]
) -> None:
    """Clears up after a dead worker and reports its trial; it may have died just after its result was stored."""
    code, trial = worker.bury(), worker.trial
    store.sweep()
    if not worker.ready:
        raise ExecutionError(
            f"a worker process ended before it could start (exit code {code}); a script that runs trials "
            "with jobs > 1 must do so under `if __name__ == '__main__':`"
        )
    if trial is None:
        return
    result = None if fresh else store.get(trial)
    if result is not None:
        emit(Finished(result, from_store=False))
    elif not queue.retry(trial):
        emit(Failed(trial, f"its worker process {_how_it_ended(code)}"))


def _how_it_ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended unexpectedly with exit code {code}"
    name = signal.Signals(-code).name
    hint = "; often this means that memory ran out" if name == "SIGKILL" else ""
    return f"was killed ({name}{hint})"


def _cores(jobs: int) -> list[int | None]:
    """A core for each worker; another set in another process, so that small pools do not share cores."""
    if not hasattr(os, "sched_getaffinity"):
        return [None] * jobs
    cores = sorted(os.sched_getaffinity(0))
    first = os.getpid() if jobs < len(cores) else 0
    return [cores[(first + i) % len(cores)] for i in range(jobs)]


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Processes started in the block use one BLAS thread; on one core more would only wait for each other."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the block is left; a process started in it does not get one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask if it were started inside
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
