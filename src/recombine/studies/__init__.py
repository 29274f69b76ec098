"""One package per paper: its sections, each with its experiments, claims and figures."""

from recombine.studies.claim import Amendment, Claim, Outcome
from recombine.studies.evidence import SCALES, Arm, ArmPlan, ArmPlans, Evidence, Scale
from recombine.studies.measurement import AllOf, Cases, PerSeed, Successes, Unpaired
from recombine.studies.quantity import Quantity, described, deviation, difference, rate, ratio
from recombine.studies.reproduction import Reproduction, recall, reproduce
from recombine.studies.study import STUDIES, Drawing, Lesson, Study, StudySection, Tabulation, load
from recombine.studies.verdict import VERDICTS, Verdict, VerdictName, judge

__all__ = [
    "SCALES",
    "STUDIES",
    "VERDICTS",
    "AllOf",
    "Amendment",
    "Arm",
    "ArmPlan",
    "ArmPlans",
    "Cases",
    "Claim",
    "Drawing",
    "Evidence",
    "Lesson",
    "Outcome",
    "PerSeed",
    "Quantity",
    "Reproduction",
    "Scale",
    "Study",
    "StudySection",
    "Successes",
    "Tabulation",
    "Unpaired",
    "Verdict",
    "VerdictName",
    "described",
    "deviation",
    "difference",
    "judge",
    "load",
    "rate",
    "ratio",
    "recall",
    "reproduce",
]
