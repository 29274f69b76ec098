"""The whole audit: every way in, every form out, and everything that can be wrong with what is brought."""

import json
import re
from functools import cache

import numpy as np
import polars as pl
import pytest

from recombine import InputError, audit
from recombine.auditing.findings import FINDINGS

X, Y = np.indices((6, 7)).reshape(2, -1)
SEEN = (3 * X + 2 * Y) % 4 > 0
COLOURS = np.array(["red", "blue", "green", "cyan", "black", "white"])
TABLE = {"colour": COLOURS[X], "shape": Y}
EFFECTS = np.random.default_rng(0).normal(size=(2, 7))
TRUTH = EFFECTS[0][X] + EFFECTS[1][Y]
LEAK = np.where(SEEN, TRUTH, TRUTH[SEEN].mean() + 0.5 * (TRUTH - TRUTH[SEEN].mean()))
HOT = np.concatenate([np.eye(6)[X], np.eye(7)[Y]], axis=1).astype(np.float32)


def run(prediction=LEAK, **settings):
    """An audit; the one of the leak is made once."""
    return leak_report() if prediction is LEAK and not settings else new_run(prediction, **settings)


@cache
def leak_report():
    return new_run(LEAK)


def new_run(prediction, **settings):
    arguments = {"factors": ["colour", "shape"], "seen": SEEN, "target": TRUTH} | settings
    return audit(TABLE, prediction=prediction, **arguments)


def test_the_object_has_every_part():
    plain = json.loads(json.dumps(run().to_dict(), allow_nan=False))
    assert {"verdict", "findings", "errors", "advice", "remedies"} <= set(plain)
    assert [one["id"] for one in plain["findings"]] == list(FINDINGS)
    for one in plain["findings"]:
        assert {"id", "holds", "estimate", "interval", "explanation"} <= set(one)
        assert one["holds"] in (True, False, None)
        assert one["applicable"] or one["holds"] is None
        assert one["explanation"]
    assert set(plain["errors"]["baselines"]) >= {
        "constant",
        "nearest_seen_cell",
        "additive_1",
        "product",
        "kernel",
    }
    assert plain["advice"]["unseen"] == (~SEEN).sum()


def test_a_leak_is_reported_with_its_slope():
    report = run()
    one = report.finding("memorisation_leak")
    assert one.holds is True
    assert one.estimate.value == pytest.approx(0.5)
    assert report.finding("composes").holds is False
    assert "vary only 50% as much" in report.verdict
    assert report.remedies


def test_a_model_that_composes_needs_no_remedy():
    report = run(TRUTH)
    assert report.finding("composes").holds is True
    assert not report.remedies
    assert "composes colour and shape" in report.verdict


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_fits_the_terminal(width):
    lines = run().document().text(width=width).splitlines()
    assert lines[0].startswith("Verdict: ")
    assert max(map(len, lines)) <= width


def test_text_page_and_cells(tmp_path):
    report = run()
    assert repr(report) == f"AuditReport({report.verdict!r})"
    assert report.verdict in report._repr_html_()
    assert report.figure().axes
    path = report.page().write(tmp_path / "audit.html")
    page = path.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "memorisation leak" in page
    cells = report.cells()
    assert cells.columns == ["colour", "shape", "rows", "seen", "familiar", "error"]
    assert len(cells) == 42
    assert report.forecast.table().height == (~SEEN).sum()


@pytest.mark.parametrize("form", ["csv", "parquet", "polars", "pandas", "mapping", "factors"])
def test_every_form_of_a_table_gives_the_same_report(form, tmp_path):
    frame = pl.DataFrame(TABLE | {"split": np.where(SEEN, "train", "test"), "y": TRUTH, "p": LEAK})
    columns = {"factors": ["colour", "shape"], "seen": "split=train", "target": "y", "prediction": "p"}
    if form == "csv":
        frame.write_csv(tmp_path / "t.csv")
        report = audit(tmp_path / "t.csv", **columns)
    elif form == "parquet":
        frame.write_parquet(tmp_path / "t.parquet")
        report = audit(str(tmp_path / "t.parquet"), **columns)
    elif form == "polars":
        report = audit(frame, **columns)
    elif form == "pandas":
        pandas = pytest.importorskip("pandas")
        report = audit(pandas.DataFrame(frame.to_dict(as_series=False)), **columns)
    elif form == "mapping":
        report = audit(frame.to_dict(as_series=False), **columns)
    else:
        report = audit(factors=TABLE, seen=SEEN, target=TRUTH, prediction=LEAK)
    assert report.verdict == run().verdict
    assert report.errors["unseen"]["estimate"] == pytest.approx(run().errors["unseen"]["estimate"])


def test_columns_of_scores_and_of_several_targets():
    label = np.where((X + Y) % 2, "odd", "even")
    frame = pl.DataFrame(
        TABLE | {"train": (X + 2 * Y) % 3 > 0, "y": label, "even": X % 2 == 0, "odd": X % 2 == 1}
    )
    frame = frame.with_columns(pl.col("even", "odd").cast(float))
    report = audit(
        frame,
        factors=["colour", "shape"],
        seen="train",
        target="y",
        prediction=["even", "odd"],
        classes=["even", "odd"],
    )
    assert report.finding("shortcut").holds is True
    assert report.finding("shortcut").details["factors"] == ["colour"]
    both = frame.with_columns(a=TRUTH, b=-TRUTH, c=LEAK, d=-LEAK)
    report = audit(both, factors=["colour", "shape"], seen=SEEN, target=["a", "b"], prediction=["c", "d"])
    assert report.finding("memorisation_leak").holds is True


def test_held_out_rows_of_seen_cells_are_the_fair_comparison():
    rows = np.repeat(np.arange(len(X)), 2)
    seen = SEEN[rows] & (np.arange(len(rows)) % 2 == 0)
    noise = np.where(seen, 0.0, np.random.default_rng(0).normal(size=len(rows)) * 0.1)
    table = {name: column[rows] for name, column in TABLE.items()}
    report = audit(table, factors=list(TABLE), seen=seen, target=TRUTH[rows], prediction=TRUTH[rows] + noise)
    assert report.scores.held_out
    assert report.scores.seen.value == pytest.approx(0.01, rel=0.5)
    assert report.finding("composes").holds is True


def test_questions_that_cannot_be_asked_are_not_applicable():
    report = run()
    superposition = report.finding("superposition")
    assert (superposition.holds, superposition.applicable, superposition.status) == (None, False, "n/a")
    assert "scalar" in superposition.explanation
    assert [one.id for one in report.findings if not one.applicable] == [
        "superposition",
        "re_entanglement",
        "warped_geometry",
        "salience",
        "mixed_connectivity",
        "cross_interaction",
        "lazy_finetuning",
    ]
    assert report.finding("shortcut").applicable
    too_large = run(weights=[np.ones((2000, 2000)), np.ones((2000, 1))]).finding("mixed_connectivity")
    assert (too_large.holds, too_large.applicable) == (None, True)


def test_missing_targets_leave_findings_out_and_say_so():
    report = run(target=np.where(SEEN, TRUTH, np.nan))
    assert report.finding("composes").holds is None
    assert "no unseen cell has a target" in report.verdict
    some = run(target=np.where(SEEN | (np.arange(len(X)) % 2 == 0), TRUTH, np.nan))
    assert any("no target and were left out" in note for note in some.notes)
    none = run(target=None)
    assert none.finding("memorisation_leak").holds is None
    assert any("no targets" in note for note in none.notes)


def test_cells_with_unseen_levels_do_not_count():
    seen = SEEN & (X != 5)
    report = run(TRUTH, seen=seen)
    assert any("level that training never shows" in note for note in report.notes)
    assert report.scores.cells_unseen == (~seen & (X != 5)).sum()


def test_few_unseen_cells_are_not_enough():
    seen = np.ones(len(X), dtype=bool)
    seen[[8, 16]] = False
    report = run(np.where(seen, TRUTH, 0.0), seen=seen)
    assert report.finding("shortcut").holds is None
    assert "too few" in report.finding("shortcut").explanation


def test_a_model_that_raises_loses_nothing_else():
    def broken(rows):
        raise RuntimeError("out of order")

    report = audit(TABLE, factors=list(TABLE), seen=SEEN, target=TRUTH, model=broken, inputs=HOT)
    assert "RuntimeError: out of order" in report.model_error
    assert "out of order" in str(report)
    assert report.verdict.startswith("Undecided")
    assert report.forecast.order == 1
    assert report.to_dict()["traceback"]
    assert "out of order" in str(report.page().sections)


def test_a_model_with_inputs_gives_layers_and_weights():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(13, 16),
        torch.nn.BatchNorm1d(16),
        torch.nn.ReLU(),
        torch.nn.Dropout(),
        torch.nn.Linear(16, 1),
    )
    net.train()
    report = audit(TABLE, factors=list(TABLE), seen=SEEN, target=TRUTH, model=net, inputs=HOT)
    assert net.training
    assert net[1].training
    assert any("eval mode" in note for note in report.notes)
    assert [layer.name for layer in report.layers][:2] == ["input", "0"]
    assert report.finding("mixed_connectivity").holds is not None
    assert report.framework == "torch"


def test_slots_of_a_decoder():
    weights = np.random.default_rng(1).normal(size=(13, 30))

    def sums(rows):
        return np.tanh(rows[:, :6] @ weights[:6]) + np.tanh(rows[:, 6:] @ weights[6:])

    def mixed(rows):
        return np.tanh(rows @ weights)

    slots = [list(range(6)), list(range(6, 13))]
    for model, expected in ((sums, False), (mixed, True)):
        report = audit(
            TABLE, factors=list(TABLE), seen=SEEN, target=model(HOT), model=model, inputs=HOT, slots=slots
        )
        assert report.finding("cross_interaction").holds is expected


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prediction": LEAK[:-1]}, "prediction: got '41 rows', expected as many as the table has, 42"),
        ({"prediction": np.where(X == 2, np.nan, LEAK)}, "not finite in row 15"),
        ({"seen": np.ones(42, dtype=bool)}, "combination of levels that training lacks"),
        ({"seen": np.zeros(42, dtype=bool)}, "no training row"),
        ({"seen": [True, False]}, "true or false for each of the 42 rows"),
        ({"factors": ["color", "shape"]}, "did you mean 'colour'"),
        ({"target": "label"}, "target: got 'label', expected a column"),
        ({"factors": []}, "at least one column"),
        ({"factors": ["colour"]}, "one has no combinations"),
        ({"unordered": ["size"]}, "one of the factors: colour, shape"),
        ({"weights": "net.pt"}, "pickles are never read"),
        ({"weights": "nothing.npz"}, "that exists"),
        ({"seen": None}, "which rows are for training"),
        ({"prediction": None}, "predictions, or a model"),
        ({"activations": {"a": np.zeros((41, 3))}}, "a row for each row"),
        ({"activations": {"a": np.full((42, 3), np.inf)}}, "finite numbers"),
        ({"model": len}, "the model's inputs"),
        (
            {"model": lambda rows: rows, "inputs": HOT[:-2], "prediction": None},
            "as many as the table has, 42",
        ),
        ({"model": lambda rows: rows, "inputs": HOT, "layers": ["conv1"]}, "layers"),
        ({"kind": "ranking"}, "'regression' or 'classification'"),
    ],
)
def test_bad_input_is_one_clear_line(settings, words):
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        run(**({"prediction": LEAK} | settings))
    assert "\n" not in str(caught.value)


def test_unknown_findings_are_named():
    with pytest.raises(InputError, match="memorisation_leak"):
        run().finding("leak")


@pytest.mark.parametrize(("factor", "offset"), [(0.5, 0.0), (3.0, -1.0), (-1.0, 2.0), (1.0, 3.0)])
def test_other_units_are_not_a_failure_to_compose(factor, offset):
    report = run(factor * TRUTH + offset)
    assert report.finding("composes").holds is True
    assert "units" in report.verdict


def test_untrained_nets_have_learned_nothing():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        predictions = np.maximum(HOT @ rng.normal(size=(13, 16)), 0) @ rng.normal(size=16) * 0.3
        report = run(predictions)
        assert not any(
            report.finding(id).holds for id in ("composes", "memorisation_leak", "shortcut", "additive_only")
        )


@pytest.mark.parametrize("centre", [0.0, 5.0])
@pytest.mark.parametrize("slope", [0.3, 0.7])
def test_predictions_may_shrink_towards_anything(slope, centre):
    report = run(np.where(SEEN, TRUTH, centre + slope * (TRUTH - centre)))
    assert report.finding("memorisation_leak").holds is True
    assert report.finding("memorisation_leak").estimate.value == pytest.approx(slope)


def test_weights_from_files(tmp_path):
    rng = np.random.default_rng(0)
    matrices = {
        "0.weight": rng.normal(size=(8, 13)),
        "2.weight": rng.normal(size=(1, 8)),
    }  # as PyTorch has them
    np.savez(tmp_path / "net.npz", **matrices)
    for path in (tmp_path / "net.npz", str(tmp_path / "net.npz")):
        assert run(weights=path).finding("mixed_connectivity").holds is True


def test_splits_that_do_not_test_composition_say_so():
    report = run(np.where(X < 4, TRUTH, 0.0), seen=X < 4)
    assert report.finding("composes").holds is None
    assert "every unseen cell has a level that training never shows" in report.verdict
    same = run(np.full(len(X), "tame"), target=np.where(SEEN, "tame", "wild"))
    assert "all seen cells have the same target" in same.verdict


def test_without_targets_the_report_does_not_mention_them():
    report = run(target=None)
    assert "there are no targets" in report.verdict
    assert not report.remedies
    assert "seen targets" not in str(report)
    assert report.to_dict()["advice"]["order"] is None


def test_scores_are_read_in_the_order_of_their_columns():
    label = np.array(["small", "medium", "large"])[(X + Y) % 3]
    scores = {f"p_{name}": (label == name) * 1.0 for name in ("small", "medium", "large")}
    frame = pl.DataFrame(TABLE | {"train": SEEN, "size": label} | scores)
    asked = {"factors": ["colour", "shape"], "seen": "train", "target": "size"}
    assert audit(frame, **asked, prediction=list(scores)).finding("composes").holds is True
    bare = audit(frame, **asked, prediction=np.stack(list(scores.values()), axis=1))
    assert any("large, medium, small, in this order" in note for note in bare.notes)
    assert bare.finding("composes").holds is None
    assert "mistakes the same labels for others" in bare.verdict


def test_labels_confused_everywhere_are_not_a_failure_to_compose():
    names = np.array(["x", "y", "z"])
    report = run(np.array(["x", "y", "y"])[X % 3], target=names[X % 3])
    holding = [one.id for one in report.findings if one.holds]
    assert set(holding) <= {"composes"}
    assert {one.id for one in report.remedies} <= {"train_longer"}  # a third of the seen cells is wrong, too


def test_a_factor_that_the_task_depends_on_is_not_a_shortcut():
    report = run(EFFECTS[0][X] ** 3, target=EFFECTS[0][X])
    assert report.finding("shortcut").holds is not True


def test_predictions_in_other_units_are_also_shown_unconverted():
    report = run(3 * TRUTH + 10)
    assert report.finding("composes").holds is True
    errors = report.to_dict()["errors"]
    assert errors["units"]["factor"] == pytest.approx(3)
    assert errors["as_given"]["seen"]["estimate"] == pytest.approx(
        ((2 * TRUTH + 10) ** 2)[SEEN].mean(), rel=1e-3
    )
    assert any("converted to the units" in note for note in report.notes)
    timid = run(TRUTH[SEEN].mean() + 0.7 * (TRUTH - TRUTH[SEEN].mean()))
    assert timid.units is None


def test_shares_are_shares():
    for one in run().findings:
        if one.means.startswith("share") and np.isfinite(one.estimate.value):
            assert 0 <= one.estimate.low <= one.estimate.value <= one.estimate.high <= 1


@pytest.mark.parametrize("field", ["inputs", "layers", "output", "slots", "batch"])
def test_options_for_a_model_need_a_model(field):
    argument = {"inputs": HOT, "layers": ["conv1"], "output": 1, "slots": 2, "batch": 7}[field]
    with pytest.raises(InputError, match=f"^{field}: .* a model to go with it"):
        run(**{field: argument})


def test_classes_may_be_text():
    label = (X + Y) % 2
    report = run(label, target=label, classes=["0", "1"])
    assert report.outputs.classes == (0, 1)


def test_a_data_frame_of_factors():
    report = audit(factors=pl.DataFrame(TABLE), seen=SEEN, target=TRUTH, prediction=LEAK)
    assert report.verdict == run().verdict


def test_layers_may_be_numbers_and_a_layer_that_never_moves_is_not_called_independent():
    report = run(activations={"dead": np.zeros((len(X), 3)), "alive": HOT})
    dead = next(layer for layer in report.layers if layer.name == "dead")
    assert np.isnan(dead.factorisation.value)


def test_a_model_that_exits_is_a_model_that_raises():
    def leaves(rows):
        raise SystemExit(9)

    report = audit(TABLE, factors=list(TABLE), seen=SEEN, target=TRUTH, model=leaves, inputs=HOT)
    assert "SystemExit: 9" in report.model_error
    assert report.model == "leaves"
    assert report.cells()["error"].is_nan().all()
    assert "before its layers could be read" in report.finding("re_entanglement").explanation
