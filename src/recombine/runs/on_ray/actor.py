"""The worker's side: a process on some node of the cluster, pinned to one core, that runs the trials it is sent.

What travels is text and bytes. An order is the JSON that the process pool sends to its workers, too. A reply is a pair:
a JSON list that begins with a word, and the bytes of the result as the store keeps them (empty if there are none).

| word | meaning |
|---|---|
| `done` | the result is in the bytes |
| `stored` | the result is in the shared store (was it there already?) |
| `busy` | another process on the shared store is running the trial |
| `failed` | one line, traceback |
| `unstorable` | one line: the shared store cannot be used |
| `refused` | one line: this node would run other code |
"""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from typing import Any

from recombine._version import __version__
from recombine.errors import InputError, StoreError
from recombine.home import home
from recombine.runs.leased_run import run_under_lease
from recombine.runs.on_ray.core import pin_to_a_core
from recombine.runs.store import Store
from recombine.runs.store.file_format import encode
from recombine.runs.trial import Trial
from recombine.runs.trial_runner import run_trial
from recombine.runs.worker import OtherCodeError, one_line, order_for, ordered_trial, prepare_for

__all__ = ["TrialActor", "order_for"]

Reply = tuple[str, bytes]


class TrialActor:
    """Runs trials one after another, in the order in which they are sent.

    **Arguments:**

    - `search_path`: the driver's `sys.path`; folders that exist on this node are searched after this node's own, so
        that users' modules on a shared disk are found.
    - `store_path`: a store that driver and workers share; `None` to return results.
    """

    def __init__(self, search_path: list[str], store_path: str | None) -> None:
        sys.path.extend(path for path in search_path if path not in sys.path and os.path.isdir(path))
        self._core = pin_to_a_core()  # before JAX starts, which makes a thread for every core
        self._store = None if store_path is None else Store(store_path)
        self._program: str | None = None

    def describe(self) -> str:
        """Who this worker is, as JSON; the driver compares the versions with its own."""
        import ray

        context = ray.get_runtime_context()
        return json.dumps(
            {
                "version": __version__,
                "python": platform.python_version(),
                "node": context.get_node_id(),
                "host": platform.node(),
                "pid": os.getpid(),
                "core": self._core,
            }
        )

    def run(self, order: str) -> Reply:
        """Runs the trial of an order."""
        words, data = self._reply(json.loads(order))
        return json.dumps(words), data

    def _reply(self, order: dict[str, Any]) -> tuple[tuple[Any, ...], bytes]:
        try:
            trial = ordered_trial(order)
        except (OtherCodeError, InputError, ImportError) as error:
            return ("refused", one_line(error)), b""
        try:
            prepare_for(order["program"], self._program)
            self._program = order["program"]
            if self._store is not None:
                return self._run_in_shared_store(self._store, trial, fresh=order["fresh"])
            if trial.net is not None:
                from recombine.training.compilation_cache import enable_compilation_cache

                enable_compilation_cache(home() / "programs")
            return ("done",), encode(run_trial(trial))
        except StoreError as error:
            return ("unstorable", str(error)), b""
        except Exception as error:
            return ("failed", one_line(error), traceback.format_exc()), b""

    @staticmethod
    def _run_in_shared_store(store: Store, trial: Trial, *, fresh: bool) -> tuple[tuple[Any, ...], bytes]:
        outcome = run_under_lease(
            trial, store, fresh=fresh, on_start=lambda: None, progress=lambda fraction: None
        )
        return (("busy",) if outcome is None else ("stored", outcome[1])), b""
