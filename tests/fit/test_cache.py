from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
import jax
from recombine.fit.cache import enable_compilation_cache

enable_compilation_cache(Path(sys.argv[1]))
jax.jit(lambda x: x + 1)(1.0).block_until_ready()
"""


def run(path: Path) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT, str(path)], check=True)


def test_programs_are_kept_where_asked(tmp_path: Path) -> None:
    run(tmp_path / "programs")
    assert any((tmp_path / "programs").iterdir())


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run(tmp_path / "file" / "programs")
