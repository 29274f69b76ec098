"""The audit of any model, for its answers on combinations that it was not trained on."""

from recombine.auditing.audit import audit
from recombine.auditing.finding import Finding
from recombine.auditing.models import ModelError
from recombine.auditing.result import AuditReport

__all__ = ["AuditReport", "Finding", "ModelError", "audit"]
