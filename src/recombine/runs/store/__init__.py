"""The store: a folder of results, one file per finished trial, of which old ones can be compacted into few files."""

from recombine.runs.store.compaction import Compaction
from recombine.runs.store.listing import StoredTrial, StoreWarning
from recombine.runs.store.store import Store

__all__ = ["Compaction", "Store", "StoreWarning", "StoredTrial"]
