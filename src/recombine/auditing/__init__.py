"""Auditing any model: does it handle combinations that it was not trained on, and if not, why not?"""

from recombine.auditing.audit import audit
from recombine.auditing.comparison import AuditComparison
from recombine.auditing.findings import Finding
from recombine.auditing.gate import GateResult
from recombine.auditing.result import AuditReport
from recombine.data.text import TextScoring
from recombine.models import ModelError

__all__ = ["AuditComparison", "AuditReport", "Finding", "GateResult", "ModelError", "TextScoring", "audit"]
