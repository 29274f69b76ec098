"""Findings, the questions that an audit answers, one file each.

To add a finding, add a file with a subclass of `Finding` and its name to `FINDINGS`.
"""

from recombine.auditing.findings.additive_only import AdditiveOnlyFinding
from recombine.auditing.findings.composes import ComposesFinding
from recombine.auditing.findings.cross_interaction import CrossInteractionFinding
from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.findings.lazy_finetuning import LazyFinetuningFinding
from recombine.auditing.findings.memorisation_leak import MemorisationLeakFinding
from recombine.auditing.findings.mixed_connectivity import MixedConnectivityFinding
from recombine.auditing.findings.re_entanglement import ReEntanglementFinding
from recombine.auditing.findings.salience import SalienceFinding
from recombine.auditing.findings.shortcut import ShortcutFinding
from recombine.auditing.findings.superposition import SuperpositionFinding
from recombine.auditing.findings.warped_geometry import WarpedGeometryFinding

FINDINGS: dict[str, type[Finding]] = {
    kind.id: kind
    for kind in (
        ComposesFinding,
        MemorisationLeakFinding,
        ShortcutFinding,
        SuperpositionFinding,
        AdditiveOnlyFinding,
        ReEntanglementFinding,
        WarpedGeometryFinding,
        SalienceFinding,
        MixedConnectivityFinding,
        CrossInteractionFinding,
        LazyFinetuningFinding,
    )
}
"""All findings by id, in the order of reports."""

__all__ = ["FINDINGS", "AuditEvidence", "Finding"]
