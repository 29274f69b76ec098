"""Will a neural network handle combinations of familiar parts that it never saw together?

`recombine` trains controlled experiments, explains failures on unseen combinations and fixes them.
Names are loaded on first use, so that importing the package is instant and does not start JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine import (
        advice,
        auditing,
        bias,
        data,
        metrics,
        models,
        modularity,
        nets,
        probes,
        remedies,
        report,
        reuse,
        runs,
        spaces,
        studies,
        sweeps,
        tasks,
        theory,
        training,
    )
    from recombine import torch as torch
    from recombine.advice import advise
    from recombine.auditing import audit
    from recombine.bias import implicit_bias_report
    from recombine.metrics.interaction import asymmetry_report, discover_slots, interaction_profile
    from recombine.modularity import modularity_report
    from recombine.parts import Part
    from recombine.reuse import reuse_report
    from recombine.spaces import Space, Split
    from recombine.studies import reproduce
    from recombine.sweeps import sweep
    from recombine.tasks import Task
    from recombine.training import Noise, Penalty, Recipe, fit

_HOME_OF = {
    "Noise": "recombine.training",
    "Part": "recombine.parts",
    "Penalty": "recombine.training",
    "Recipe": "recombine.training",
    "Space": "recombine.spaces",
    "Split": "recombine.spaces",
    "Task": "recombine.tasks",
    "advise": "recombine.advice",
    "asymmetry_report": "recombine.metrics.interaction",
    "audit": "recombine.auditing",
    "discover_slots": "recombine.metrics.interaction",
    "fit": "recombine.training",
    "implicit_bias_report": "recombine.bias",
    "interaction_profile": "recombine.metrics.interaction",
    "modularity_report": "recombine.modularity",
    "reproduce": "recombine.studies",
    "reuse_report": "recombine.reuse",
    "sweep": "recombine.sweeps",
}
_PACKAGES = {
    "advice",
    "auditing",
    "bias",
    "data",
    "metrics",
    "models",
    "modularity",
    "nets",
    "probes",
    "remedies",
    "report",
    "reuse",
    "runs",
    "spaces",
    "studies",
    "sweeps",
    "tasks",
    "theory",
    "torch",
    "training",
}

# `torch` is left out, because `from recombine import *` must work without PyTorch.
__all__ = [
    "InputError",
    "Noise",
    "Part",
    "Penalty",
    "Recipe",
    "Space",
    "Split",
    "Task",
    "__version__",
    "advice",
    "advise",
    "asymmetry_report",
    "audit",
    "auditing",
    "bias",
    "data",
    "discover_slots",
    "fit",
    "implicit_bias_report",
    "interaction_profile",
    "metrics",
    "models",
    "modularity",
    "modularity_report",
    "nets",
    "probes",
    "remedies",
    "report",
    "reproduce",
    "reuse",
    "reuse_report",
    "runs",
    "spaces",
    "studies",
    "sweep",
    "sweeps",
    "tasks",
    "theory",
    "training",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    if name in _PACKAGES:
        return import_module(f"recombine.{name}")
    raise AttributeError(f"module 'recombine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "torch"})
