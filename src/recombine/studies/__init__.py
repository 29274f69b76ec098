"""One package per paper: its experiments, its claims and its figures."""

from recombine.studies.claims import SCALES, Arm, Claim, Condition, Evidence, Outcome, Scale, Verdict
from recombine.studies.reproduction import Reproduction, recall, reproduce
from recombine.studies.study import STUDIES, Drawing, Study, load

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
