"""Trials: running them, here or in worker processes, and storing their results. Importing this does not import JAX."""

from recombine.runs.events import Event, ExecutionError, Failed, Finished, Progress, Started, Waiting
from recombine.runs.executor import check_on, complete, execute
from recombine.runs.fingerprint import code_fingerprint
from recombine.runs.lease import Lease
from recombine.runs.result_table import export, table
from recombine.runs.store import Compaction, Store, StoredTrial, StoreWarning
from recombine.runs.trial import Trial, canonical_json, from_json
from recombine.runs.trial_result import Result
from recombine.runs.trial_runner import run_trial

__all__ = [
    "Compaction",
    "Event",
    "ExecutionError",
    "Failed",
    "Finished",
    "Lease",
    "Progress",
    "Result",
    "Started",
    "Store",
    "StoreWarning",
    "StoredTrial",
    "Trial",
    "Waiting",
    "canonical_json",
    "check_on",
    "code_fingerprint",
    "complete",
    "execute",
    "export",
    "from_json",
    "run_trial",
    "table",
]
