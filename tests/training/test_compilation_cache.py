from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
import jax
from recombine.training.compilation_cache import enable_compilation_cache

enable_compilation_cache(Path(sys.argv[1]))
jax.jit(lambda x: x + 1)(1.0).block_until_ready()
"""


def run(path: Path, **variables: str) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT, str(path)], check=True, env=own | variables)


def test_programs_are_kept_in_the_requested_folder(tmp_path: Path) -> None:
    run(tmp_path / "programs")
    assert any((tmp_path / "programs").iterdir())


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run(tmp_path / "file" / "programs")


def test_a_cache_folder_set_in_jax_is_left_alone(tmp_path: Path) -> None:
    environment = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    run(tmp_path / "programs", **environment, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    assert any((tmp_path / "cache").iterdir())
    assert not (tmp_path / "programs").exists()
