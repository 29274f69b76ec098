"""The connection to a Ray cluster, and whether the cluster is still there."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from recombine.errors import InputError
from recombine.runs.events import ExecutionError
from recombine.runs.on_ray.actor import TrialActor

CHECK_SECONDS = 2.0
"""How often the driver looks whether the head of the cluster still answers."""

MAX_SILENCE = 3
"""How many looks in a row may fail. Ray itself waits for a minute and then ends the driver's process."""

COUNT_SECONDS = 5.0
"""How often the cores of the cluster are counted: nodes may join."""

SAME_EVERYWHERE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread each: a worker has one core."""


QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # otherwise Ray warns that this will be the default
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # paragraphs about dead workers, on standard output; the driver reports these
}
"""Variables that Ray reads when it is imported. One that is set already is left alone."""


class Cluster:
    """A running cluster, for the time of a `with` block; connected to before it, or by it.

    **Arguments:**

    - `address`: `"ray"`, `"host:port"` or `"ray://host:port"`.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._ray = _import_ray()
        self._is_ours = False
        self._lost = False
        self._head: tuple[str, int] | None = None
        self._silent, self._checked = 0, time.monotonic()
        self._capacity, self._counted = 0, float("-inf")

    def __enter__(self) -> Cluster:
        ray = self._ray
        if not ray.is_initialized():
            address = None if self.address == "ray" else self.address
            _check_reachable(self.address)
            options = {"include_dashboard": False} if address is None else {}
            try:
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise _unreachable(self.address, error) from error
            self._is_ours = True
        if not ray.util.client.ray.is_connected():
            host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
            self._head = (host.strip("[]"), int(port))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            self._ray.shutdown()

    def check(self) -> None:
        """Raises `ExecutionError` if the head of the cluster does not answer any more."""
        now = time.monotonic()
        if now - self._checked < CHECK_SECONDS:
            return
        self._checked = now
        self._silent = 0 if self._answers() else self._silent + 1
        if self._silent >= MAX_SILENCE:
            raise self.lost()

    def lost(self) -> ExecutionError:
        """The error for a cluster that is gone."""
        self._lost = True
        return ExecutionError(
            f"the Ray cluster at {self.address} does not answer any more; results of finished trials are in the "
            "store, and the same call continues from there"
        )

    def capacity(self) -> int:
        """How many cores the living nodes have."""
        now = time.monotonic()
        # Asking a head that does not answer would block for a minute.
        if now - self._counted > COUNT_SECONDS and self._answers():
            self._counted = now
            self._capacity = int(self._ray.cluster_resources().get("CPU", 0))
        return self._capacity

    def largest_memory(self) -> int:
        """The memory of the largest node, in bytes."""
        return int(max((node["Resources"].get("memory", 0) for node in self._ray.nodes()), default=0))

    def is_alive(self, node: str) -> bool:
        """Whether a node is still part of the cluster."""
        return any(one["NodeID"] == node and one["Alive"] for one in self._ray.nodes())

    def start_worker(self, memory: int, store_path: str | None) -> Any:
        """A worker with one core of its own; it starts as soon as the cluster has room for it."""
        variables = dict.fromkeys(SAME_EVERYWHERE, "1")
        # Flags of the compiler decide in which order sums are taken.
        variables |= {n: v for n, v in os.environ.items() if n == "XLA_FLAGS" or n.startswith("JAX_")}
        if "RECOMBINE_HOME" in os.environ:
            variables["RECOMBINE_HOME"] = os.environ["RECOMBINE_HOME"]
        actor = self._ray.remote(TrialActor).options(
            num_cpus=1,
            memory=memory,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": variables},
        )
        return actor.remote([os.path.abspath(path) for path in sys.path], store_path)

    def wait(self, refs: Sequence[Any], seconds: float) -> list[Any]:
        """The replies that have arrived; waits up to `seconds` for the first."""
        ready, _ = self._ray.wait(list(refs), num_returns=1, timeout=seconds, fetch_local=True)
        if len(refs) > 1 and ready:
            ready, _ = self._ray.wait(list(refs), num_returns=len(refs), timeout=0, fetch_local=True)
        return list(ready)

    def fetch(self, ref: Any) -> Any:
        """The content of a reply that has arrived."""
        return self._ray.get(ref)

    def stop_worker(self, actor: Any) -> None:
        """Ends a worker at once, whatever it is doing."""
        if not self._lost:
            self._ray.kill(actor, no_restart=True)

    @property
    def death(self) -> tuple[type[Exception], ...]:
        """What `fetch` raises if the worker, or the node that kept the reply, has died."""
        errors = self._ray.exceptions
        return (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.NodeDiedError,
            errors.WorkerCrashedError,
            errors.OutOfMemoryError,
            errors.RuntimeEnvSetupError,
            errors.ActorUnschedulableError,
        )

    @property
    def system_error(self) -> type[Exception]:
        """What Ray raises if it does not work as a whole."""
        error: type[Exception] = self._ray.exceptions.RaySystemError
        return error

    def _answers(self) -> bool:
        if self._head is None:
            return bool(self._ray.util.client.ray.is_connected())
        try:
            socket.create_connection(self._head, timeout=1.0).close()
        except OSError:
            return False
        return True


def _import_ray() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.util.client
    except ImportError as error:
        raise InputError(
            "on", "ray", f"Ray to be installed: pip install 'recombine[ray]' ({error})"
        ) from error
    return ray


def _check_reachable(address: str) -> None:
    """Ray tries for half a minute to reach an address where nobody listens."""
    if address == "ray":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not 0 < int(port) < 65536:
        raise InputError("on", address, "a port from 1 to 65535")
    try:
        socket.create_connection((host, int(port)), timeout=10.0).close()
    except (OSError, ValueError) as error:  # the latter for what cannot be the name of a host
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200]
    return InputError("on", address, f"a running Ray cluster that can be reached from here ({reason})")
