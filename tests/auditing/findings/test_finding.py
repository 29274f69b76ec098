"""What all findings have in common."""

import numpy as np
import pytest

from recombine.auditing.findings import FINDINGS
from recombine.auditing.findings.finding import cell_list, title_of
from recombine.auditing.findings.shortcut import ShortcutFinding
from recombine.intervals import Estimate


@pytest.mark.parametrize(
    ("holds", "status"), [(True, "yes"), (False, "no"), (None, "unclear")], ids=["yes", "no", "unclear"]
)
def test_statuses(holds, status):
    one = ShortcutFinding(holds, Estimate(0.5, 0.4, 0.6), "share", "because")
    assert one.status == status
    assert one.to_dict() == {
        "id": "shortcut",
        "holds": holds,
        "applicable": True,
        "estimate": 0.5,
        "interval": [0.4, 0.6],
        "means": "share",
        "explanation": "because",
        "details": {},
    }


def test_not_applicable_is_neither_yes_nor_no():
    one = ShortcutFinding.not_applicable("there are no factors")
    assert (one.status, one.holds, one.applicable) == ("n/a", None, False)
    assert one.to_dict()["estimate"] is None
    assert one.to_dict()["interval"] is None


def test_every_finding_has_a_different_question():
    assert len(FINDINGS) == len({kind.title for kind in FINDINGS.values()}) == 11
    assert all(kind.question.endswith("?") for kind in FINDINGS.values())
    assert title_of("re_entanglement") == "re-entanglement"


def test_lists_of_cells():
    cells = [{"a": np.int64(i)} for i in range(3)]
    assert cell_list(cells, max_cells=3) == "(0); (1); (2)"
    assert cell_list(cells, max_cells=2).endswith("…")
