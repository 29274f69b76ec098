"""Numbers per seed read back from their file decide claims as the run itself did."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recombine.data import write_table
from recombine.errors import InputError
from recombine.parts import Part
from recombine.report import Badge, Column, Row, Table
from recombine.runs import Store, Trial
from recombine.studies import (
    AllOf,
    Amendment,
    Arm,
    ArmPlan,
    Cases,
    Claim,
    Drawing,
    Evidence,
    PerSeed,
    Study,
    StudySection,
    Successes,
    Unpaired,
    described,
    deviation,
    difference,
    rate,
    ratio,
)
from recombine.studies.per_seed import per_seed_table
from recombine.studies.recorded import read_recorded, with_recorded
from recombine.studies.recorded_tables import read_tables, write_tables
from recombine.studies.reproduction import Reproduction
from recombine.studies.results_files import recall_results, write_results
from recombine.studies.results_page import filled_tables
from recombine.studies.study import Tabulation
from recombine.studies.verdict import LOOK_LEVEL

REVERSAL = {"reversal": "it had come out the other way"}
CLAIMS = (
    Claim(
        "1",
        "errors grow",
        "ours",
        ratio("error / error", "above", published=4.0),
        ("arm",),
        lambda evidence: PerSeed(
            evidence["arm"]["x"],
            requires={"fitted (loss below 0.1)": evidence["arm"]["fits"] > 0},
            supports={"-x": -evidence["arm"]["x"], "once": [3.0]},
        ),
        **REVERSAL,
    ),
    Claim(
        "2",
        "samples differ",
        "ours",
        difference("shift", "above"),
        ("arm",),
        lambda evidence: Unpaired(
            evidence["arm"]["x"],
            evidence["arm"]["y"],
            second_requires={"fitted": evidence["arm"]["fits"] > 0},
            labels=("with", "without"),
        ),
        **REVERSAL,
    ),
    Claim(
        "3",
        "most succeed",
        "ours",
        rate("share that succeeds", "above", no_effect=0.5),
        ("arm",),
        lambda evidence: Successes(evidence["arm"]["x"] > 1.5),
        **REVERSAL,
    ),
    Claim(
        "4",
        "an identity holds",
        "ours",
        deviation("difference", tolerance=1e-9),
        ("arm",),
        lambda evidence: Cases({"=first": 1e-12, "second": -1e-13}, note="two cases"),
    ),
    Claim(
        "5",
        "how often it fits",
        "ours",
        described("share that fits"),
        ("arm",),
        lambda evidence: Successes(evidence["arm"]["fits"] > 0),
    ),
    Claim(
        "6",
        "two comparisons hold",
        "ours",
        difference("x - 1, and x + y", "above"),
        ("arm",),
        lambda evidence: AllOf(
            {"x - 1": evidence["arm"]["x"] - 1, "x + y": evidence["arm"]["x"] + evidence["arm"]["y"]},
            requires={"fitted": evidence["arm"]["fits"] > 0},
        ),
        **REVERSAL,
    ),
)


def _arms(scale):
    trial = Trial(Part("types:SimpleNamespace", n=1), (Part("builtins:vars"),), (0,))
    return {"arm": ArmPlan(trial, seeds=10)}


def _draw(evidence):
    from recombine.report import blank_figure

    return blank_figure(height=2.0)


STUDY = Study(
    "made-up",
    "A made-up study",
    "nobody 2026",
    sections=(
        StudySection(
            "Figure 1",
            arms=_arms,
            claims=CLAIMS,
            drawings=(Drawing("lines", "Lines.", "Lines that grow.", ("arm",), _draw),),
        ),
    ),
    main_figure="lines",
    learned=(),
    cost=lambda trial: 1.0,
)


def run(seeds=10, *, offset=0, level=0.95):
    """A reproduction on made-up evidence: ten seeds, of which one diverged and one did not fit."""
    rng = np.random.default_rng(seeds + offset)
    values = {"x": rng.uniform(1.2, 4.0, seeds), "y": rng.uniform(0.1, 1.0, seeds), "fits": np.ones(seeds)}
    values["x"][1], values["fits"][2] = np.nan, 0.0
    arm = Arm(tuple(range(offset, offset + seeds)), ("finished",) * seeds, values, {})
    evidence = Evidence({"arm": arm}, "quick")
    outcomes = tuple(claim.decide(evidence, level=level) for claim in CLAIMS)
    return Reproduction(STUDY, "quick", offset, evidence, outcomes, 1.0, 1)


NOTHING = Reproduction(STUDY, "quick", 0, Evidence({}, "quick"), (), 0.0, 0)
NOTHING = replace(NOTHING, outcomes=tuple(claim.decide(NOTHING.evidence) for claim in CLAIMS))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "made-up.csv"
    write_table(per_seed_table([run(), run(offset=1000)]), path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("level", [0.95, LOOK_LEVEL])
def test_recorded_numbers_decide_as_the_run_did(tmp_path, suffix, level):
    whole = run(level=level)
    path = tmp_path / f"made-up.{suffix}"
    write_table(per_seed_table([whole]), path)
    again = with_recorded(NOTHING, read_recorded(path))
    for mine, theirs in zip(again.outcomes, whole.outcomes, strict=True):
        assert mine.to_dict() == theirs.to_dict()
        assert mine.level == level
        assert mine.recorded.version
    assert again.seeds == whole.seeds
    # Written again, the numbers are the same, with the date of their run.
    written = per_seed_table([again])
    assert written.equals(per_seed_table([whole]))


def test_other_scales_and_seed_sets_are_kept_apart(file):
    numbers = read_recorded(file)
    second = with_recorded(replace(NOTHING, seed_offset=1000), numbers)
    assert second.seeds == list(range(1000, 1010))
    assert (
        second.outcome("1").verdict.estimate != with_recorded(NOTHING, numbers).outcome("1").verdict.estimate
    )
    assert not with_recorded(replace(NOTHING, scale="paper"), numbers).measured


def test_the_run_with_more_seeds_counts(file):
    numbers = read_recorded(file)
    for seeds, from_file in ((6, True), (10, False), (20, False)):
        outcome = with_recorded(run(seeds), numbers).outcome("1")
        assert (outcome.recorded is not None) == from_file, seeds


def test_numbers_of_a_quantity_that_has_changed_are_ignored(file):
    changed = replace(CLAIMS[0], quantity=ratio("another error / error", "above", published=4.0))
    outcome = changed.decide(NOTHING.evidence)
    found = with_recorded(replace(NOTHING, outcomes=(outcome,)), read_recorded(file))
    assert found.outcome("1").verdict.name == "not run"


def test_numbers_of_a_claim_that_has_been_amended_are_ignored(file):
    """The same name may stand for another estimator after an amendment."""
    amended = replace(CLAIMS[0], amendments=(Amendment("the mean", "the median", "one seed decided"),))
    outcome = amended.decide(NOTHING.evidence)
    found = with_recorded(replace(NOTHING, outcomes=(outcome,)), read_recorded(file))
    assert found.outcome("1").verdict.name == "not run"


def test_an_exact_statement_that_was_checked_now_is_not_replaced(tmp_path):
    """Not even by a recording with more cases."""
    many = replace(
        run(),
        outcomes=tuple(
            replace(o, measurement=Cases({f"case {i}": 1.0 for i in range(9)})) if o.claim.id == "4" else o
            for o in run().outcomes
        ),
    )
    write_table(per_seed_table([many]), tmp_path / "made-up.csv")
    kept = with_recorded(run(), read_recorded(tmp_path / "made-up.csv")).outcome("4")
    assert (kept.recorded, kept.verdict.name) == (None, "verified")


def test_a_new_bound_decides_recorded_numbers(file):
    stricter = replace(CLAIMS[0], quantity=ratio("error / error", "above", magnitude=1e6))
    outcome = stricter.decide(NOTHING.evidence)
    found = with_recorded(replace(NOTHING, outcomes=(outcome,)), read_recorded(file))
    assert found.outcome("1").verdict.name == "weaker"


def test_a_page_shows_recorded_claims_and_keeps_their_figures(file, tmp_path):
    store = Store(tmp_path / "store")
    old, new = tmp_path / "made-up", tmp_path / "new"
    old.mkdir()
    from recombine.report import blank_figure, png_bytes

    (old / "lines.png").write_bytes(png_bytes(blank_figure(height=2.0, width=3.5)))
    for recorded in (file, tmp_path):
        results = recall_results(STUDY, store=store, compare=1000, recorded=recorded)
        for form in ("md", "html"):
            write_results(results, new / f"made-up.{form}", quiet=True)
    page = (new / "made-up.md").read_text(encoding="utf-8")
    assert "lines.png" in page
    assert (new / "made-up" / "lines.png").read_bytes() == (old / "lines.png").read_bytes()
    assert re.search(
        r"Recorded on \d{4}-\d\d-\d\d with version .*claims 1, 2, 3, 4, 5, 6; seeds from 1000: 1, 2", page
    )
    assert "not fitted (loss below 0.1)" in page
    assert "data:image/png" in (new / "made-up.html").read_text(encoding="utf-8")


def test_a_folder_need_not_have_every_study(tmp_path):
    with pytest.raises(InputError, match="results of made-up; run `recombine reproduce made-up` first"):
        recall_results(STUDY, store=Store(tmp_path / "store"), recorded=tmp_path)


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda t: t.drop("level"), "recorded: got 'level', expected a column of"),
        (lambda t: t.with_columns(value=pl.lit("many")), "column 'value': got 'many', expected numbers"),
        (lambda t: t.with_columns(seed=pl.lit(0.5)), "column 'seed': got '0.5', expected whole numbers"),
        (
            lambda t: t.with_columns(form=pl.lit("lines")),
            "column 'form': got 'lines', expected one of per seed",
        ),
        (lambda t: t.with_columns(level=pl.lit(None)), "column 'level': got None"),
        (lambda t: t.with_columns(level=pl.lit(95.0)), "column 'level': got 95.0, expected a number between"),
        (lambda t: t.with_columns(form=pl.lit("unpaired")), "column 'form': got 'unpaired'"),
    ],
)
def test_a_file_that_is_not_one_of_ours_is_refused_in_one_line(file, damage, line):
    write_table(damage(pl.read_csv(file, schema_overrides={"claim": pl.String})), file)
    with pytest.raises(InputError, match=line):
        with_recorded(NOTHING, read_recorded(file))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_recorded(Path(tmp_path / "none.csv"))


def test_tables_of_earlier_pages_are_kept(tmp_path):
    """A table that the evidence does not fill is that of the earlier page, badges and headings included."""
    table = Table(
        [Column("net"), Column("error", "right", group="unseen")],
        [Row(["plain", "0.5"]), Row(["with penalty", Badge("0.1", "good")])],
        caption="Two nets",
    )
    section = replace(
        STUDY.sections[0], tabulations=(Tabulation("Errors", ("an arm that was not run",), lambda _: table),)
    )
    run = replace(NOTHING, study=replace(STUDY, sections=(section, *STUDY.sections[1:])))
    assert filled_tables(run) == {}
    write_tables({"Errors": table, "Another": table}, tmp_path)
    assert filled_tables(run, tmp_path) == {"Errors": table}
    write_tables({}, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"Errors": {"columns": [], "rows": 3}}', '{"Errors": 1}'])
def test_a_file_of_other_tables_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "tables.json").write_text(text)
    with pytest.raises(InputError, match=r"tables.json: got 'other contents', expected tables, as"):
        read_tables(tmp_path)
