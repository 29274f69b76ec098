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
    assert "torch" in dir(recombine)
    assert "torch" not in recombine.__all__  # `from recombine import *` works without PyTorch
    assert recombine.torch.weighted_activity.__module__ == "recombine.remedies.torch.activity"
    for name in recombine.torch.__all__:
        assert getattr(recombine.torch, name).__doc__, name


def test_jax_and_pytorch_have_the_same_names() -> None:
    """Of the JAX remedies, only these have no counterpart; the package says why."""
    only_in_jax = {
        "add_single_factors",
        "as_penalty",
        "compositional_consistency",
        "cross_hessian_of",
        "head_mean_weight",
        "matched_distance",
        "paper_equivalent_weight",
    }
    assert set(recombine.remedies.__all__) - set(recombine.torch.__all__) == only_in_jax
    for name in ("compositional_consistency", "add_single_factors"):
        assert name in (recombine.remedies.torch.__doc__ or "")


@pytest.mark.parametrize("name", ["models", "remedies", "metrics.interaction", "auditing"])
def test_packages_load_no_pytorch(name: str) -> None:
    assert run(f"import sys, recombine.{name}; assert 'torch' not in sys.modules").returncode == 0


def test_everything_but_torch_works_without_pytorch() -> None:
    code = "import sys; sys.modules['torch'] = None; from recombine import *; print(remedies.l2, models.as_model)"
    assert run(code).returncode == 0


def test_models_load_no_jax() -> None:
    assert run("import sys, recombine.models; assert 'jax' not in sys.modules").returncode == 0


def test_running_a_module_loads_no_compiler() -> None:
    """Dynamo takes two seconds to load, which an audit should not need."""
    code = (
        "import sys, numpy as np, torch; from recombine.models import as_model;"
        "model = as_model(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()), np.ones((4, 3)));"
        "list(model.run(model.layers)); model.weights(); assert 'torch._dynamo' not in sys.modules"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("import_it", ["import recombine.torch", "import recombine; recombine.torch"])
def test_without_pytorch(import_it: str) -> None:
    result = run(f"import sys; sys.modules['torch'] = None; {import_it}")
    assert result.returncode == 1
    lines = result.stderr.strip().splitlines()
    assert lines[-1] == 'ImportError: recombine.torch needs PyTorch: pip install "recombine[torch]"'
    assert "During handling" not in result.stderr


def test_importing_recombine_loads_no_pytorch() -> None:
    assert run("import sys, recombine; assert 'torch' not in sys.modules").returncode == 0


def test_the_guide_runs() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guide.md").read_text(encoding="utf-8")
    section = guide.split("### In your own PyTorch loop")[1]
    snippet = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert snippet is not None
    exec(compile(snippet[1], "guide.md", "exec"), {})
