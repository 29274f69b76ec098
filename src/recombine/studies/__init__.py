"""One package per paper: its experiments, its claims and its figures."""

from importlib import import_module

from recombine.errors import InputError
from recombine.studies.claims import SCALES, Arm, Claim, Condition, Evidence, Outcome, Scale, Verdict
from recombine.studies.study import Drawing, Reproduction, Study, recall, reproduce

STUDIES = {
    "forced-rendering": "recombine.studies.forced_rendering",
    "kernel-theory": "recombine.studies.kernel_theory",
    "poisson-modularity": "recombine.studies.poisson_modularity",
    "interaction-asymmetry": "recombine.studies.interaction_asymmetry",
}
"""The studies by name, and the modules that hold them; a module is imported when its study is asked for."""


def load(name: str) -> Study:
    """The study of that name.

    ```python
    >>> from recombine.studies import load
    >>> load("forced-rendering").claim("4").published
    '53'

    ```
    """
    if name not in STUDIES:
        raise InputError("study", name, f"one of {', '.join(STUDIES)}")
    study: Study = import_module(STUDIES[name]).STUDY
    return study


__all__ = [
    "SCALES",
    "STUDIES",
    "Arm",
    "Claim",
    "Condition",
    "Drawing",
    "Evidence",
    "Outcome",
    "Reproduction",
    "Scale",
    "Study",
    "Verdict",
    "load",
    "recall",
    "reproduce",
]
