"""Audits compared with earlier ones, and everything that can be wrong with a file."""

import copy
import json
import random

import numpy as np
import pytest
from tests.auditing.gate.tables import COLOUR, SEEN, TRUTH, B, audited, composing, failing

from recombine import InputError
from recombine.auditing.gate.baseline import read_estimate
from recombine.auditing.thresholds import MAX_STORED_CELLS


def since(report, baseline):
    return report.compared_with(baseline).since


def test_better_and_worse_cell_by_cell():
    rise, fall = since(failing(), composing().to_dict()), since(composing(), failing().to_dict())
    assert rise.paired
    assert rise.unseen.worse
    assert fall.unseen.better
    assert rise.seen.same
    assert rise.unseen.difference.value == pytest.approx(-fall.unseen.difference.value)
    assert rise.unseen.difference.value == pytest.approx((TRUTH[~SEEN] ** 2).mean())
    assert rise.unseen.cells == int((~SEEN).sum())
    assert {tuple(cell.values()) for cell in rise.broken} == {tuple(cell.values()) for cell in fall.repaired}
    assert not rise.repaired
    assert ("composes", "yes", "no") in {(one.title, one.before, one.after) for one in rise.findings}


def test_the_same_audit_has_not_changed(tmp_path):
    path = tmp_path / "previous.json"
    path.write_text(json.dumps(failing().to_dict()), encoding="utf-8")
    change = since(failing(), path)
    assert change.sentence == "Since previous.json: no cell has changed."
    assert failing().check("worse, worse-unseen, worse-seen > 0", baseline=path).passed


def test_rounding_is_no_change():
    change = since(audited(np.where(SEEN, TRUTH, 0.0) * (1 + 1e-9)), failing())
    assert change.unseen.same


def test_conditions_about_a_change():
    gate = failing().check("worse, worse > 0.05, worse > 1e6, worse-seen", baseline=composing())
    assert [one.status for one in gate.results] == ["failed", "failed", "passed", "passed"]


def test_a_change_of_few_cells_is_within_noise():
    prediction = TRUTH.copy()
    prediction[np.flatnonzero(~SEEN)[:4]] += 3
    change = since(audited(prediction), composing())
    assert not change.unseen.differs  # four fair coins all show heads in one of eight cases
    assert len(change.broken) == 4


def test_without_cells_the_comparison_is_unpaired_and_says_so():
    plain = failing().to_dict() | {"cells": None}
    change = since(composing(), plain)
    assert not change.paired
    assert change.unseen.better
    assert any("unpaired" in note for note in change.notes)


def test_files_of_earlier_versions_have_no_format_and_no_cells():
    plain = failing().to_dict()
    del plain["format"], plain["cells"]
    assert since(composing(), plain).unseen.better


def test_common_cells_are_compared():
    some = COLOUR != "red"
    report = audited(
        TRUTH[some],
        factors={"size": B[some], "colour": COLOUR[some]},
        seen=SEEN[some],
        target=TRUTH[some],
    )
    change = since(report, failing().to_dict())
    assert change.unseen.cells == int((~SEEN & some).sum())
    assert change.unseen.before == pytest.approx((TRUTH[~SEEN & some] ** 2).mean())
    assert (
        change.notes[0]
        == "only the 35 common cells are compared; 0 of this table and 7 of the baseline are not"
    )


def test_cells_that_training_has_gained_are_left_out():
    seen = SEEN.copy()
    gained = np.flatnonzero(~SEEN)[:4]
    seen[gained] = True
    change = since(audited(np.where(seen, TRUTH, 0.0), seen=seen), failing())
    assert change.unseen.same
    assert change.unseen.cells == int((~SEEN).sum()) - 4
    assert any(note.startswith("4 cells left out") for note in change.notes)


def test_other_failing_outputs_are_compared_one_by_one():
    targets = np.stack([TRUTH + 20, TRUTH * B + 60], axis=1)
    first = audited(np.where(SEEN[:, None], targets, targets * [0, 1]), target=targets)
    second = audited(np.where(SEEN[:, None], targets, targets * [1, 0]), target=targets)
    change = since(second, first.to_dict())
    assert change.by_output["output 1"].better
    assert change.by_output["output 2"].worse
    assert change.sentence.endswith(
        "better on unseen combinations in output 1; worse on unseen combinations in output 2."
    )
    assert not second.check("worse", baseline=first).passed


def test_too_many_cells_are_not_written(monkeypatch):
    assert MAX_STORED_CELLS >= 1000
    monkeypatch.setattr("recombine.auditing.gate.stored_cells.MAX_STORED_CELLS", 41)
    assert failing().to_dict()["cells"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "recombine-audit/2"}, "of format 'recombine-audit/2'"),
        ({"format": ["x"]}, "of format"),
        ({"factors": {"colour": ["red"], "weight": [1]}}, "about the factors colour, weight"),
        ({"factors": {"colour": ["no"] * 6, "size": list(range(7))}}, "without a cell in common"),
        ({"errors": {"measure": "share of wrong labels"}}, "which measured the share of wrong labels"),
        ({"errors": 3}, "which is not an audit"),
        ({"findings": None}, "which is not an audit"),
        ({"cells": {"levels": 3}}, "cells that cannot be read"),
    ],
)
def test_other_baselines_are_refused_in_one_line(change, words):
    with pytest.raises(InputError, match=words):
        since(composing(), failing().to_dict() | change)


@pytest.mark.parametrize(
    "content", [b'{"a":', b"\0", b"[]", b"3", b"[" * 100_000, bytes(range(256)), b"{}", b""]
)
def test_damaged_files_are_refused(tmp_path, content):
    path = tmp_path / "previous.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^baseline: got .previous\.json"):
        since(composing(), path)


def test_missing_and_huge_files_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="a JSON file that exists"):
        since(composing(), tmp_path / "nothing.json")
    monkeypatch.setattr("recombine.auditing.gate.baseline.MAX_BASELINE_BYTES", 10)
    path = tmp_path / "previous.json"
    path.write_text(json.dumps(failing().to_dict()), encoding="utf-8")
    with pytest.raises(InputError, match="at most 10"):
        since(composing(), path)


def test_no_damage_ends_in_anything_but_an_input_error():
    draw = random.Random(0)
    report, plain = composing(), json.loads(json.dumps(failing().to_dict()))

    def damaged(value):
        if isinstance(value, dict) and value and draw.random() < 0.9:
            key = draw.choice(list(value))
            changed = dict(value)
            changed[key] = damaged(changed[key])
            return changed
        if isinstance(value, list) and value and draw.random() < 0.7:
            changed = list(value)
            changed[draw.randrange(len(changed))] = damaged(draw.choice(changed))
            return changed
        return draw.choice(
            [None, 1, -1, 1e308, float("nan"), float("inf"), "x", [], {}, [[1]], True, 10**400]
        )

    refused = 0
    for _ in range(300):
        try:
            changed = report.compared_with(damaged(copy.deepcopy(plain)))
            changed.check("worse")
            assert changed.since.to_dict()
        except InputError:
            refused += 1
    assert 0 < refused < 300


def test_copies_of_cells_are_no_change_beyond_noise():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, len(TRUTH))) * ~SEEN

    def change(runs):
        run = np.tile(np.arange(runs), len(TRUTH))
        copied = {"colour": np.repeat(COLOUR, runs), "size": np.repeat(B, runs)}
        copied |= {"run": run} if runs > 1 else {}
        table = {"factors": copied, "seen": np.repeat(SEEN, runs), "target": np.repeat(TRUTH, runs)}
        now, then = (audited(np.repeat(TRUTH + off, runs), **table) for off in (first, second))
        return since(now, then.to_dict()).unseen

    once, copies = change(1), change(8)
    assert copies.difference.pair == pytest.approx(once.difference.pair, rel=1e-6)


@pytest.mark.parametrize(
    ("interval", "ends"),
    [
        ([0.2, 0.8], (0.2, 0.8)),
        ([None, 0.8], (-np.inf, 0.8)),
        ([0.2, None], (0.2, np.inf)),
        ([None, None], (np.nan, np.nan)),
        (None, (np.nan, np.nan)),
        (["a", None], (np.nan, np.inf)),
    ],
)
def test_ends_without_a_bound_are_read(interval, ends):
    assert read_estimate({"estimate": 0.5, "interval": interval}).pair == pytest.approx(ends, nan_ok=True)


def test_a_baseline_whose_error_has_no_upper_bound_can_be_compared():
    plain = failing().to_dict()
    del plain["cells"]
    plain["errors"]["unseen"]["interval"] = [None, None]
    unknown = composing().compared_with(plain).since
    plain["errors"]["unseen"]["interval"] = [0.1, None]
    unbounded = composing().compared_with(plain).since
    assert not unknown.unseen.worse
    assert not unbounded.unseen.worse
    assert unbounded.sentence
    json.dumps(unbounded.to_dict(), allow_nan=False)
