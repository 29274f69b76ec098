"""The folder in which results, compiled programs and data sets are kept."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`$RECOMBINE_HOME`, else the user's cache folder for `recombine`.

    ```python
    >>> from recombine.home import home
    >>> home().is_absolute()
    True

    ```
    """
    if chosen := os.environ.get("RECOMBINE_HOME"):
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("recombine", appauthor=False)
