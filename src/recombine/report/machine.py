"""How a page was made: version and date, and one line about the machine that identifies nobody."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recombine._version import __version__


def page_footer(**further: str) -> dict[str, str]:
    """The footer of a report's page: version and date, then whatever else says how it was made.

    ```python
    >>> from recombine.report import page_footer
    >>> list(page_footer(method="after Qian, Liang and Fiete 2025"))
    ['version', 'date', 'method']

    ```
    """
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"version": __version__, "date": now, **further}


def machine() -> str:
    """The processor, the number of usable cores, the operating system, and the versions of Python and JAX.

    It contains no host name, user name or path, and JAX is not imported.

    ```python
    >>> from recombine.report import machine
    >>> "Python 3" in machine()
    True

    ```
    """
    parts = [_processor(), _cores(), _system(), f"Python {platform.python_version()}", _jax()]
    return " · ".join(part for part in parts if part)


def _processor() -> str:
    readers: dict[str, Callable[[], str]] = {"Linux": _linux_processor, "Darwin": _mac_processor}
    try:
        name = readers.get(platform.system(), platform.processor)()
    except (OSError, subprocess.SubprocessError):
        name = ""
    name = re.sub(r"\((R|TM|r|tm)\)|\bCPU\b|\bProcessor\b", " ", name or platform.machine())
    return " ".join(name.split())


def _linux_processor() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match.group(1) if match else ""


def _mac_processor() -> str:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    return subprocess.run(command, capture_output=True, text=True, timeout=2.0, check=True).stdout


def _cores() -> str:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    n = len(affinity(0)) if affinity else os.cpu_count() or 1
    return f"{n} core" if n == 1 else f"{n} cores"


def _system() -> str:
    if platform.system() == "Linux":
        try:
            return platform.freedesktop_os_release()["PRETTY_NAME"]
        except (OSError, KeyError):
            return "Linux"
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return f"{platform.system()} {platform.release()}"


def _jax() -> str:
    try:
        return f"JAX {version('jax')}"
    except PackageNotFoundError:
        return ""
