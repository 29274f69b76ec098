"""The compilation cache on disk: a program that was compiled once is loaded by later processes."""

from __future__ import annotations

import os
from pathlib import Path


def enable_compilation_cache(path: Path) -> None:
    """Keeps compiled programs in `path`.

    Does nothing if the folder cannot be written, or if JAX's own `JAX_COMPILATION_CACHE_DIR` names another.
    """
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    import jax

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    settings = {
        "jax_compilation_cache_dir": str(path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": 0,
    }
    for name, value in settings.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
