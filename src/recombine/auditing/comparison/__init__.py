"""Several models audited on the same table: paired differences, and the cells that changed."""

from recombine.auditing.comparison.comparison import AuditComparison, ModelPair
from recombine.auditing.comparison.several_models import compare_models

__all__ = ["AuditComparison", "ModelPair", "compare_models"]
