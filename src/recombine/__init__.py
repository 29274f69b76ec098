"""Will a neural network handle combinations of familiar parts that it never saw together?

`recombine` trains controlled experiments, explains failures on unseen combinations and fixes them.
Names are loaded on first use, so that importing the package is instant and does not start JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import DatasetError, InputError, StoreError
from recombine.parts import Part

if TYPE_CHECKING:
    from recombine import (
        fit,
        modularity,
        nets,
        probes,
        remedies,
        report,
        runs,
        spaces,
        studies,
        tasks,
        theory,
        torch,
    )
    from recombine.advice import Advice, advise
    from recombine.auditing import AuditReport, audit
    from recombine.fit import Fitted, Noise, Penalty, Recipe, Schedule, adam, adamw, sgd
    from recombine.modularity import ModularityReport, modularity_report
    from recombine.probes.interaction import (
        AsymmetryReport,
        InteractionProfile,
        asymmetry_report,
        discover_slots,
        interaction_profile,
    )
    from recombine.runs import Store, Trial, execute
    from recombine.spaces import (
        Space,
        Split,
        centre_hole,
        corner_hole,
        cross_hole,
        fraction_hole,
        masked_hole,
    )
    from recombine.studies import reproduce
    from recombine.tasks import Task, bump_code, bump_images, bumps, one_hot, ramp, with_stripes

__all__ = [
    "Advice",
    "AsymmetryReport",
    "AuditReport",
    "DatasetError",
    "Fitted",
    "InputError",
    "InteractionProfile",
    "ModularityReport",
    "Noise",
    "Part",
    "Penalty",
    "Recipe",
    "Schedule",
    "Space",
    "Split",
    "Store",
    "StoreError",
    "Task",
    "Trial",
    "__version__",
    "adam",
    "adamw",
    "advise",
    "asymmetry_report",
    "audit",
    "bump_code",
    "bump_images",
    "bumps",
    "centre_hole",
    "corner_hole",
    "cross_hole",
    "discover_slots",
    "execute",
    "fit",
    "fraction_hole",
    "interaction_profile",
    "masked_hole",
    "modularity",
    "modularity_report",
    "nets",
    "one_hot",
    "probes",
    "ramp",
    "remedies",
    "report",
    "reproduce",
    "runs",
    "sgd",
    "spaces",
    "studies",
    "tasks",
    "theory",
    "torch",
    "with_stripes",
]

_HOMES = {
    "recombine.advice": "Advice advise",
    "recombine.auditing": "AuditReport audit",
    "recombine.fit": "Fitted Noise Penalty Recipe Schedule adam adamw sgd",
    "recombine.modularity": "ModularityReport modularity_report",
    "recombine.probes.interaction": "AsymmetryReport InteractionProfile asymmetry_report discover_slots "
    "interaction_profile",
    "recombine.runs": "Store Trial execute",
    "recombine.spaces": "Space Split centre_hole corner_hole cross_hole fraction_hole masked_hole",
    "recombine.studies": "reproduce",
    "recombine.tasks": "Task bump_code bump_images bumps one_hot ramp with_stripes",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    if name in __all__:
        return import_module(f"recombine.{name}")
    raise AttributeError(f"module 'recombine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
