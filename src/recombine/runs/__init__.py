"""Trials, where they are run and what is kept of them. Importing this does not import JAX."""

from recombine.runs.events import Event, ExecutionError, Failed, Finished, Progress, Started
from recombine.runs.executor import execute
from recombine.runs.fingerprint import code_fingerprint
from recombine.runs.lease import Lease
from recombine.runs.result import Result
from recombine.runs.run import run_trial
from recombine.runs.store import Entry, Store, StoreWarning
from recombine.runs.table import export, table
from recombine.runs.trial import Trial, canonical_json, from_json

__all__ = [
    "Entry",
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
    "Trial",
    "canonical_json",
    "code_fingerprint",
    "execute",
    "export",
    "from_json",
    "run_trial",
    "table",
]
