"""An audit as a gate: conditions, a baseline, and what continuous integration reads."""

from recombine.auditing.gate.baseline import AUDIT_FORMAT, COMPARISON_FORMAT, Baseline, read_baseline
from recombine.auditing.gate.baseline_change import BaselineChange, compare_with_baseline
from recombine.auditing.gate.gate_conditions import GateCondition, parse_conditions
from recombine.auditing.gate.gate_result import ConditionResult, GateResult, check_report
from recombine.auditing.gate.junit import junit_xml, write_junit
from recombine.auditing.gate.stored_cells import cells_to_store
from recombine.auditing.gate.summary_line import summary_line

__all__ = [
    "AUDIT_FORMAT",
    "COMPARISON_FORMAT",
    "Baseline",
    "BaselineChange",
    "ConditionResult",
    "GateCondition",
    "GateResult",
    "cells_to_store",
    "check_report",
    "compare_with_baseline",
    "junit_xml",
    "parse_conditions",
    "read_baseline",
    "summary_line",
    "write_junit",
]
