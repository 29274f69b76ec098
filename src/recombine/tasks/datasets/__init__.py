"""Image data sets on this machine: where they are, whether their files are the published ones, and their contents."""

from recombine.errors import DatasetError
from recombine.tasks.datasets.cache import CachedDataset, available, cache_folder, fetch, find, load, verify

__all__ = ["CachedDataset", "DatasetError", "available", "cache_folder", "fetch", "find", "load", "verify"]
