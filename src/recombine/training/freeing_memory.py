"""Freeing memory that only the compiler needed, and programs that will not be called again."""

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


def forget_programs() -> None:
    """Drops all compiled programs of this process; the compilation cache on disk keeps them.

    A worker that goes through fifty architectures would otherwise hold the programs of all of them.
    """
    if "jax" not in sys.modules:
        return
    import jax

    jax.clear_caches()  # type: ignore[no-untyped-call]
    release_freed_memory()
