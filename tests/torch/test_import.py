"""PyTorch is an option: nothing loads it unasked, and without it one line says what to install."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recombine


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_package_by_its_name() -> None:
    assert "torch" in recombine.__all__
    assert recombine.torch.weighted_activity.__module__ == "recombine.torch.activity"
    for name in recombine.torch.__all__:
        assert getattr(recombine.torch, name).__doc__, name


@pytest.mark.parametrize("import_it", ["import recombine.torch", "import recombine; recombine.torch"])
def test_without_pytorch(import_it: str) -> None:
    found = run(f"import sys; sys.modules['torch'] = None; {import_it}")
    assert found.returncode == 1
    lines = found.stderr.strip().splitlines()
    assert lines[-1] == 'ImportError: recombine.torch needs PyTorch: pip install "recombine[torch]"'
    assert "During handling" not in found.stderr


def test_importing_recombine_loads_no_pytorch() -> None:
    assert run("import sys, recombine; assert 'torch' not in sys.modules").returncode == 0


def test_the_guide_runs() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    section = guide.split("### In your own PyTorch loop")[1]
    snippet = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert snippet is not None
    exec(compile(snippet[1], "guide.md", "exec"), {})
