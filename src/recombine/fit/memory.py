"""Giving memory back that only the compiler needed."""

from __future__ import annotations

import ctypes
import sys


def release_freed_memory() -> None:
    """Asks the C library to return freed memory to the system, where it can (glibc).

    Compiling a convolutional net takes about half a gigabyte that is free afterwards but stays with the
    process, which counts when several processes share a laptop.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
