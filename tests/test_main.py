"""The command as a module."""

import subprocess
import sys

from recombine import __version__


def test_the_package_runs_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "recombine", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in result.stdout
