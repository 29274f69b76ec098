"""The driver's side: what each worker of the cluster is doing, and what happens when one dies.

The driver alone writes the store, unless workers share it, and holds the leases of the trials that it has sent out.
A worker gets one trial at a time; trials of a fraction of a second are sent in batches, so that a worker does not wait
for the driver. Every trial is run by itself, so how trials are sent changes no digit.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recombine._version import __version__
from recombine.errors import StoreError
from recombine.parts import Part
from recombine.runs.events import Event, ExecutionError, Failed, Finished, Started, Waiting
from recombine.runs.lease import Lease
from recombine.runs.on_ray.actor import order_for
from recombine.runs.on_ray.cluster import Cluster
from recombine.runs.on_ray.memory import estimated_memory
from recombine.runs.store import Store
from recombine.runs.store.file_format import DamagedError, decode
from recombine.runs.trial import Trial
from recombine.runs.trial_queue import RETRY_SECONDS, TrialQueue

_log = logging.getLogger(__name__)

MAX_DEATHS = 3
"""A trial whose worker has died this often has most likely killed it."""

MAX_FAILED_STARTS = 3
"""This many workers in a row that do not start: the cluster cannot run trials."""

BATCH_SECONDS = 1.0
MAX_BATCH = 16
"""A worker is sent about a second of work at once, and at most this many trials."""

PATIENCE = 30.0
"""Seconds without any worker after which the driver says what it is waiting for."""


def run_on_ray(
    queue: TrialQueue,
    store: Store,
    *,
    address: str,
    jobs: int,
    shared_store: bool,
    fresh: bool,
    emit: Callable[[Event], None],
) -> None:
    """Runs all trials of a queue on a Ray cluster, with up to `jobs` workers (0: as many as it has cores).

    However this function is left, no worker outlives it.
    """
    with Cluster(address) as cluster:
        driver = _Driver(queue, store, cluster, jobs, shared_store, fresh, emit)
        try:
            driver.run()
        except (ConnectionError, cluster.system_error) as error:
            raise cluster.lost() from error
        finally:
            driver.end()


@dataclass
class _Sent:
    trial: Trial
    reply: Any
    lease: Lease | None


@dataclass(eq=False)
class _Worker:
    """A worker of the cluster.

    - `introduction`: the reply that tells who it is; `None` once it has arrived.
    - `reserved`: the trial that it was started for, until it is ready.
    - `sent`: trials that it has, the one that it is running first.
    - `seconds`: how long its last trial took.
    """

    number: int
    actor: Any
    memory: int
    introduction: Any
    reserved: Trial | None
    node: str = ""
    host: str = ""
    program: str | None = None
    sent: deque[_Sent] = field(default_factory=deque)
    seconds: float = BATCH_SECONDS
    began: float = 0.0

    @property
    def is_ready(self) -> bool:
        return self.introduction is None

    @property
    def next_reply(self) -> Any:
        return self.sent[0].reply if self.is_ready else self.introduction


@dataclass
class _Driver:
    queue: TrialQueue
    store: Store
    cluster: Cluster
    jobs: int
    shared_store: bool
    fresh: bool
    emit: Callable[[Event], None]
    workers: list[_Worker] = field(default_factory=list)
    deaths: Counter[Trial] = field(default_factory=Counter)
    failed_starts: int = 0
    estimates: dict[tuple[Part, str], int] = field(default_factory=dict)

    def run(self) -> None:
        waiting_since, warned = time.monotonic(), False
        while len(self.queue) or any(worker.sent or worker.reserved for worker in self.workers):
            self.cluster.check()
            self._hand_out()
            self._start_workers()
            self._reclaim()
            for blocked in self.queue.blocked():
                self.emit(Waiting(blocked, *self.store.holder(blocked)))
            if any(worker.is_ready for worker in self.workers):
                waiting_since = time.monotonic()
            elif time.monotonic() - waiting_since > PATIENCE and not warned:
                warned = True
                _log.warning(
                    "waiting for the Ray cluster at %s: no worker has started yet", self.cluster.address
                )
            self._listen()

    def end(self) -> None:
        """Ends all workers and gives back all leases."""
        for worker in self.workers:
            self.cluster.stop_worker(worker.actor)
            for sent in worker.sent:
                if sent.lease is not None:
                    sent.lease.release()

    def _listen(self) -> None:
        waiting = {worker.next_reply: worker for worker in self.workers if worker.sent or not worker.is_ready}
        if not waiting:
            time.sleep(RETRY_SECONDS)
            return
        for reply in self.cluster.wait(list(waiting), RETRY_SECONDS):
            worker = waiting[reply]
            try:
                content = self.cluster.fetch(reply)
            except self.cluster.death as error:
                self._bury(worker, error)
                continue
            if worker.is_ready:
                self._handle(worker, *content)
            else:
                self._welcome(worker, json.loads(content))

    def _hand_out(self) -> None:
        """Sends trials to all workers that have too little to do; those that have nothing to do come first."""
        for worker in sorted(self.workers, key=lambda worker: len(worker.sent)):
            while worker.is_ready and len(worker.sent) < self._depth(worker):
                others = {w.program for w in self.workers if w.program is not None and w is not worker}
                trial = self.queue.take(worker.program, others=others)
                if trial is None:
                    return
                if self._memory(trial) <= worker.memory:
                    self._send(worker, trial)
                elif worker.sent:
                    self.queue.put_back(
                        trial
                    )  # it needs a larger worker, as soon as this one has nothing to do
                    break
                else:
                    self._dismiss(worker)
                    self._start_worker(trial)
                    break

    def _depth(self, worker: _Worker) -> int:
        depth = max(1, min(MAX_BATCH, int(BATCH_SECONDS / max(worker.seconds, 1e-3))))
        return depth if len(self.queue) > depth * len(self.workers) else 1

    def _start_workers(self) -> None:
        most = self.jobs or self.cluster.capacity()
        while len(self.workers) < most:
            trial = self.queue.take(others={w.program for w in self.workers if w.program is not None})
            if trial is None:
                return
            self._start_worker(trial)

    def _start_worker(self, trial: Trial) -> None:
        memory = self._memory(trial)
        numbers = {worker.number for worker in self.workers}
        number = next(i for i in range(len(self.workers) + 1) if i not in numbers)
        store_path = str(self.store.path) if self.shared_store else None
        actor = self.cluster.start_worker(memory, store_path)
        worker = _Worker(number, actor, memory, actor.describe.remote(), trial, program=trial.program)
        self.workers.append(worker)

    def _reclaim(self) -> None:
        """Takes its trial from a worker that waits for room in the cluster, if another worker has nothing to do."""
        idle = sum(worker.is_ready and not worker.sent for worker in self.workers)
        for worker in [w for w in self.workers if w.reserved is not None][
            : idle if not len(self.queue) else 0
        ]:
            assert worker.reserved is not None
            self.queue.put_back(worker.reserved)
            self._dismiss(worker)

    def _memory(self, trial: Trial) -> int:
        kind = (trial.task, trial.program)
        if kind not in self.estimates:
            self.estimates[kind] = min(estimated_memory(trial), self.cluster.largest_memory())
        return self.estimates[kind]

    def _welcome(self, worker: _Worker, facts: dict[str, Any]) -> None:
        worker.introduction, self.failed_starts = None, 0
        worker.node, worker.host = facts["node"], facts["host"]
        if facts["version"] != __version__:
            raise ExecutionError(
                f"the Ray worker on {worker.host} has recombine {facts['version']}, but this is {__version__}; "
                "install the same version on every node"
            )
        trial, worker.reserved = worker.reserved, None
        assert trial is not None
        self._send(worker, trial)

    def _send(self, worker: _Worker, trial: Trial) -> None:
        lease = None
        if not self.shared_store:
            lease = self.store.lease(trial)
            if lease is None:
                self.queue.postpone(trial)
                return
            if not self.fresh and (stored := self.store.get(trial)) is not None:
                lease.release()  # another process has finished it a moment ago
                self.emit(Finished(stored, from_store=True))
                return
        reply = worker.actor.run.remote(order_for(trial, fresh=self.fresh))
        worker.sent.append(_Sent(trial, reply, lease))
        worker.program = trial.program
        if len(worker.sent) == 1:
            self._note_start(worker)

    def _note_start(self, worker: _Worker) -> None:
        worker.began = time.monotonic()
        self.emit(Started(worker.sent[0].trial, worker.number))

    def _handle(self, worker: _Worker, text: str, data: bytes) -> None:
        sent = worker.sent.popleft()
        worker.seconds = time.monotonic() - worker.began
        try:
            self._finish(worker, sent.trial, *json.loads(text), data=data)
        finally:
            if sent.lease is not None:
                sent.lease.release()
        if worker.sent:
            self._note_start(worker)

    def _finish(self, worker: _Worker, trial: Trial, word: str, *rest: Any, data: bytes) -> None:
        if word == "done":
            try:
                result = decode(data, key=trial.key, trial=trial)
            except DamagedError as error:
                self._fail(trial, f"its result arrived damaged ({error})")
                return
            self.store.put(result)
            self.emit(Finished(result, from_store=False))
        elif word == "stored":
            stored = self.store.get(trial)
            if stored is None:
                self._fail(
                    trial,
                    f"its result is not in {self.store.path}; is that folder the same on {worker.host}?",
                )
            else:
                self.emit(Finished(stored, from_store=rest[0]))
        elif word == "busy":
            self.queue.postpone(trial)
        elif word == "unstorable":
            raise StoreError(f"on {worker.host}: {rest[0]}")
        elif word == "refused":
            raise ExecutionError(
                f"the Ray worker on {worker.host} would not run the same code ({rest[0]}); install the same version of "
                "recombine, JAX and your own modules on every node, or send them with `ray job submit --working-dir`"
            )
        else:
            _log.debug("trial %s failed\n%s", trial.key, rest[1])
            self._fail(trial, rest[0])

    def _fail(self, trial: Trial, reason: str) -> None:
        if not self.queue.retry(trial):
            self.emit(Failed(trial, reason))

    def _dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        self.cluster.stop_worker(worker.actor)

    def _bury(self, worker: _Worker, error: Exception) -> None:
        """A worker has died. What it was running counts as its victim; what it had not begun is as good as new."""
        self._dismiss(worker)
        for sent in worker.sent:
            if sent.lease is not None:
                sent.lease.release()
        if not worker.is_ready:
            assert worker.reserved is not None
            self.queue.put_back(worker.reserved)
            self.failed_starts += 1
            if self.failed_starts >= MAX_FAILED_STARTS:
                raise ExecutionError(f"the Ray cluster cannot start workers: {_first_line(error)}")
            return
        running, *rest = [sent.trial for sent in worker.sent]
        for trial in rest:
            self.queue.put_back(trial)
        self.deaths[running] += 1
        stored = self.store.get(running) if self.shared_store and not self.fresh else None
        if stored is not None:
            self.emit(Finished(stored, from_store=False))
        elif self.deaths[running] < MAX_DEATHS:
            self.queue.put_back(running)
        else:
            self._fail(
                running, f"its worker died {MAX_DEATHS} times; the last time {self._cause(worker, error)}"
            )

    def _cause(self, worker: _Worker, error: Exception) -> str:
        if "low on memory" in str(error):  # Ray's words if it has ended a worker to save the node
            return "memory ran out"
        if not self.cluster.is_alive(worker.node):
            return "its node was lost"
        return "its process was killed or crashed"


def _first_line(error: Exception) -> str:
    """The last line of what Ray says is the error itself; the lines before it are its traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if "Error:" in line]
    return (named or lines or [type(error).__name__])[-1][:300]
