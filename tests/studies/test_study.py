"""Running and recalling studies, with trials that train nothing; and what every study must have."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.report import markdown
from recombine.runs import Store, Trial
from recombine.studies import (
    SCALES,
    STUDIES,
    Amendment,
    Arm,
    ArmPlan,
    Cases,
    Claim,
    Drawing,
    Evidence,
    Lesson,
    PerSeed,
    Study,
    StudySection,
    described,
    deviation,
    difference,
    load,
    recall,
    reproduce,
)
from recombine.studies.replication import agreement
from recombine.studies.results_files import recall_results, write_overview, write_results
from recombine.studies.results_page import claims_table, outcomes_table, results_document, terminal_document
from recombine.studies.study import check_scale


def make_task(n, seed):
    return {"n": n, "seed": seed}


def measure(task):
    return {"product": task["n"] * (task["seed"] + 1)}


def noise(task):
    """Changes its sign from seed to seed until seed 8, then stays positive."""
    return {"sign": 1.0 if task["seed"] % 2 or task["seed"] > 7 else -1.0}


def arms(scale):
    probes = {"cheap": measure, "dear": measure, "noisy": noise, "identity": measure}
    return {
        name: ArmPlan(
            Trial(Part(f"{__name__}:make_task", n=n), (Part(f"{__name__}:{probes[name].__name__}"),), (0,)),
            seeds=1 if scale == "smoke" else 6,
            together=4,
            seeded=name != "identity",
        )
        for name, n in (("cheap", 2), ("dear", 3), ("noisy", 1), ("identity", 5))
    }


def draw(evidence):
    from recombine.report import new_figure

    figure, axes = new_figure()
    axes.flat[0].plot(evidence["cheap"]["product"])
    return figure


SECTION = StudySection(
    "Figure 1: products",
    arms=arms,
    claims=(
        Claim(
            "1",
            "products are positive",
            "Figure 1",
            difference("product", "above", published=7.0),
            ("cheap",),
            lambda evidence: PerSeed(evidence["cheap"]["product"], supports={"half of it": np.ones(6)}),
            headline=True,
            reversal="a factor were negative",
            amendments=(Amendment("product above 9", "product above 3.5", "the bound came from one seed"),),
        ),
        Claim(
            "2",
            "larger products are larger",
            "ours",
            difference("dear minus cheap", "above"),
            ("dear", "cheap"),
            lambda evidence: PerSeed(evidence["dear"]["product"] - evidence["cheap"]["product"]),
            on_request=True,
            headline=True,
            minutes=3,
            reversal="three were less than two",
            obstacle="three has to be counted first.",
        ),
        Claim(
            "3",
            "five times one is five",
            "identity",
            deviation("difference"),
            ("identity",),
            lambda evidence: Cases({"5 x 1": evidence["identity"]["product"][0] - 5}),
            decided_at="smoke",
        ),
        Claim(
            "4",
            "products as they come",
            "ours",
            described("product"),
            ("cheap",),
            lambda evidence: PerSeed(evidence["cheap"]["product"]),
        ),
        Claim(
            "5",
            "signs are positive",
            "ours",
            difference("sign", "above"),
            ("noisy",),
            lambda evidence: PerSeed(evidence["noisy"]["sign"]),
            reversal="there were more negative ones",
        ),
    ),
    drawings=(Drawing("products", "Products grow.", "One line.", ("cheap",), draw),),
)
STUDY = Study(
    "tiny",
    "A tiny study",
    "nobody 2026",
    sections=(SECTION,),
    main_figure="products",
    learned=(Lesson("Products are products.", ("1",)), Lesson("Untold.", ("5", "2"))),
    cost=lambda trial: 1.0,
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def verdicts(result):
    return {outcome.claim.id: outcome.verdict.name for outcome in result.outcomes}


def test_headlines_run_by_default_and_those_on_request_say_how_to_run_them(store):
    result = reproduce(STUDY, store=store)
    assert verdicts(result) == {"1": "reproduced", "2": "not run"}
    assert set(result.evidence) == {"cheap"}
    np.testing.assert_array_equal(result.evidence["cheap"]["product"], [2, 4, 6, 8, 10, 12])
    assert result.outcome("2").note == "--claim 2 (3 min)"
    assert "not run" in str(result)
    assert repr(result) == "Reproduction(tiny, scale quick, 6 seeds: 1 reproduced, 1 not run)"


def test_all_claims(store):
    expected = {"1": "reproduced", "2": "not run", "3": "verified", "4": "described", "5": "open"}
    assert verdicts(reproduce(STUDY, everything=True, store=store)) == expected


def test_a_claim_on_request_runs_when_it_is_named(store):
    assert verdicts(reproduce(STUDY, claims=["2"], store=store)) == {"2": "reproduced"}


def test_the_seed_offset_shifts_every_seed_and_arms_without_chance_run_once(store):
    result = reproduce(STUDY, claims=["1", "3"], seed_offset=10, store=store)
    assert result.evidence["cheap"].seeds == (10, 11, 12, 13, 14, 15)
    assert result.evidence["identity"].seeds == (10,)


def test_more_seeds_reuse_what_is_stored(store):
    reproduce(STUDY, store=store)
    result = reproduce(STUDY, seeds=8, store=store)
    assert result.outcomes[0].verdict.n_seeds == 8


def test_only_open_claims_get_more_seeds(store):
    """Claim 5 is open at 7 and 12 seeds and decided at 20; claim 1 is decided at 7."""
    result = reproduce(STUDY, claims=["1", "5", "3"], until_decided=True, store=store)
    assert verdicts(result) == {"1": "reproduced", "5": "reproduced", "3": "verified"}
    assert [outcome.verdict.n_seeds for outcome in result.outcomes] == [7, 20, 0]
    assert result.outcomes[1].verdict.estimate.level >= 1 - 0.05 / 3


def test_an_arm_whose_seeds_all_diverged_leaves_its_claims_open(store):
    evidence = reproduce(STUDY, store=store).evidence
    lost = Arm(evidence["cheap"].seeds, ("diverged",) * 6, {}, {})
    outcome = STUDY.claim("1").decide(Evidence({"cheap": lost}, "quick"))
    assert (outcome.verdict.name, outcome.note) == ("open", "every seed of 'cheap' diverged")
    assert outcome.to_dict()["n_excluded"] == 6
    assert outcomes_table([outcome]).rows


def test_recall_runs_nothing(store):
    assert not recall(STUDY, store=store).evidence
    reproduce(STUDY, store=store)
    assert verdicts(recall(STUDY, store=store))["1"] == "reproduced"


def test_claims_that_more_seeds_have_decided_are_recalled_as_decided_if_asked_for(store):
    reproduce(STUDY, everything=True, store=store)
    assert verdicts(recall(STUDY, until_decided=True, store=store))["5"] == "open"
    reproduce(STUDY, claims=["5"], until_decided=True, store=store)
    assert verdicts(recall(STUDY, store=store))["5"] == "open"
    outcome = recall(STUDY, until_decided=True, store=store).outcome("5")
    assert (outcome.verdict.name, outcome.verdict.n_seeds) == ("reproduced", 20)
    assert outcome.verdict.estimate.level >= 1 - 0.05 / 3


def test_a_look_at_fewer_seeds_than_are_stored_does_not_replace_them(store):
    """Ten stored seeds include the seven of the first look; the page shows all ten."""
    reproduce(STUDY, claims=["5"], seeds=7, store=store)
    reproduce(STUDY, claims=["5"], seeds=10, store=store)
    shown = recall(STUDY, seeds=10, until_decided=True, store=store).outcome("5")
    assert shown.verdict.n_seeds == 10


def test_json_has_every_field_and_no_nan(store):
    record = reproduce(STUDY, everything=True, store=store).to_dict()
    text = json.dumps(record, allow_nan=False)
    claim = json.loads(text)["claims"][0]
    fields = "id statement source kind quantity no_effect magnitude published estimate interval level n_seeds"
    fields += " n_excluded favourable verdict supports note"
    assert set(fields.split()) <= set(claim)
    assert (claim["favourable"], claim["n_seeds"], claim["interval"]) == (6, 6, [2.0, 12.0])
    assert claim["supports"] == [{"quantity": "half of it", "estimate": 1.0, "interval": [1.0, 1.0]}]


def test_the_page_shows_headlines_first_then_figure_findings_amendments_and_both_seed_sets(store, tmp_path):
    reproduce(STUDY, everything=True, store=store)
    reproduce(STUDY, everything=True, seed_offset=1000, store=store)
    results = recall_results(STUDY, store=store, compare=1000)
    write_results(results, tmp_path / "tiny.md", quiet=True)
    page = (tmp_path / "tiny.md").read_text(encoding="utf-8")
    order = [
        "seeds from 1000",
        "products are positive",
        "The message in one figure",
        "What we learned that the paper does not say",
        "Figure 1: products",
        "Amendments",
        "the bound came from one seed",
        "Repeatability",
        "tiny.csv",
    ]
    assert [page.index(words) for words in order] == sorted(page.index(words) for words in order)
    numbers = pl.read_csv(tmp_path / "tiny.csv", schema_overrides={"claim": pl.String})
    assert set(numbers["seed"].drop_nulls()) == {*range(6), *range(1000, 1006)}
    assert numbers.filter(pl.col("claim") == "1")["value"].len() == 2 * (6 + 6)
    write_overview([results], tmp_path / "README.md")
    overview = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "products are positive" in overview
    assert "seeds from 1000" in overview


def test_agreement_counts_decided_trained_claims(store):
    first, second = (reproduce(STUDY, everything=True, seed_offset=o, store=store) for o in (0, 1000))
    found = agreement(first, second)
    assert (found.decided, found.same, found.reversed) == (1, 1, ())


def test_a_reproduction_presents_itself(store, tmp_path):
    result = reproduce(STUDY, store=store)
    assert "<iframe" in result._repr_html_()
    table = result.table()
    assert table["id"].to_list() == ["1", "2"]
    assert table["estimate"].to_list() == [7.0, None]
    assert table.row(0, named=True)["high"] == 12.0
    assert result.per_seed().height == 12
    assert result.figure() is not None
    with pytest.raises(InputError, match="figure: got 'tiny'"):
        reproduce(STUDY, claims=["5"], store=store).figure()


def test_amendments_are_shown(store):
    page = results_document(reproduce(STUDY, store=store), figures=False).html()
    assert "product above 9" in page
    assert "the 1 amendment made since" in page


def test_headline_and_listing_have_the_same_columns_at_every_width(store):
    result = reproduce(STUDY, store=store)
    for width in (60, 100, 120):
        text = terminal_document(result).text(width=width)
        assert max(map(len, text.splitlines())) <= width
    assert [column.name for column in claims_table(result).columns][-1] == "so far"


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: load("nothing"), "study: got 'nothing', expected one of forced-rendering"),
        (lambda: load("forced_rendring"), "did you mean 'forced-rendering'\\?"),
        (lambda: reproduce(7), "study: got 7, expected a Study or one of the names forced-rendering"),
        (lambda: reproduce(None), "study: got None"),
        (lambda: reproduce(STUDY, claims="12"), "claims: got '12', expected a list"),
        (lambda: reproduce(STUDY, seed_offset="1"), "seed_offset: got '1', expected a whole number"),
        (lambda: reproduce(STUDY, seeds=0), "seeds: got 0, expected a whole number from 1"),
        (lambda: reproduce(STUDY, seeds=10**9), "seeds: got 1000000000"),
        (lambda: reproduce(STUDY, seeds=7, until_decided=True), "seeds: got 7, expected no number"),
        (lambda: check_scale(None), "scale: got None"),
        (lambda: check_scale("huge"), "scale: got 'huge', expected one of smoke, quick, paper"),
        (lambda: STUDY.claim("99"), "claim: got '99', expected one of 1, 2"),
    ],
)
def test_unknown_names_are_refused_in_one_line(call, line):
    with pytest.raises(InputError, match=line):
        call()


def test_a_claim_without_a_way_to_fail_is_refused():
    with pytest.raises(InputError, match="what would make it come out the other way"):
        Claim("1", "s", "ours", difference("d", "above"), ("arm",), lambda evidence: PerSeed([1.0]))


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_complete(name):
    study = load(name)
    run = {arm for claim in study.claims for arm in (*claim.needs, *claim.also)}
    shown = {arm for drawing in study.drawings for arm in drawing.needs}
    for scale in ("quick", "paper"):
        decided = [c for c in study.claims if SCALES.index(c.decided_at) <= SCALES.index(scale)]
        needed = {arm for claim in decided for arm in claim.needs}
        assert needed <= set(study.arms(scale)) <= run | shown, scale
    assert all(study.cost(trial) > 0 for plan in study.arms("quick").values() for trial in plan.trials())
    assert 4 <= len(study.headlines) <= 9
    assert sum(claim.on_request for claim in study.headlines) <= 2
    assert study.learned


@pytest.mark.parametrize("name", STUDIES)
def test_trained_claims_have_enough_seeds(name):
    """Six seeds are the fewest whose range covers the median with 95%."""
    study = load(name)
    plans = {scale: study.arms(scale) for scale in ("quick", "paper")}
    for claim in study.claims:
        for scale, arms in plans.items():
            if claim.kind == "trained" and SCALES.index(claim.decided_at) <= SCALES.index(scale):
                few = {
                    arm: arms[arm].seeds for arm in claim.needs if arms[arm].seeded and arms[arm].seeds < 6
                }
                assert not few, (claim.id, scale, few)


@pytest.mark.parametrize("name", STUDIES)
def test_statements_are_words_and_hold_no_thresholds(name):
    """A threshold stands once, in the claim's quantity."""
    for claim in load(name).claims:
        assert not re.search(r"[≥≤<>]", claim.statement), claim.statement


@pytest.mark.parametrize("name", STUDIES)
def test_no_trial_runs_twice_at_one_scale(name):
    for scale in SCALES:
        keys = [trial.key for plan in load(name).arms(scale).values() for trial in plan.trials()]
        assert len(keys) == len(set(keys)), scale


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_runs_at_scale_smoke(name, tmp_path):
    study = load(name)
    result = reproduce(
        study, scale="smoke", everything=True, store=Store(tmp_path), jobs=0
    )  # tests use all cores
    exact = {o.claim.id: o.verdict.name for o in result.outcomes if o.claim.decided_at == "smoke"}
    assert exact == {claim.id: "verified" for claim in study.claims if claim.decided_at == "smoke"}
    trained = {o.verdict.name for o in result.outcomes if o.claim.kind == "trained"}
    assert trained <= {"open", "not run"}  # one seed decides nothing
    assert results_document(result, figures=False).html()


def test_a_drawing_named_like_its_section_is_refused_before_a_page_is_written():
    drawing = Drawing("figure-1-products", "Products grow.", "One line.", ("cheap",), draw)
    with pytest.raises(InputError, match="sections and drawings of tiny: got \\['figure-1-products'\\]"):
        replace(STUDY, sections=(replace(SECTION, drawings=(drawing,)),), main_figure="figure-1-products")


def test_lessons_stand_on_the_page_only_if_their_claims_have_been_measured(store):
    page = markdown(results_document(reproduce(STUDY, everything=True, store=store), figures=False), "page")
    assert "Products are products. (claim 1)" in page
    assert "Untold" not in page  # claim 2 runs only on request
    page = markdown(
        results_document(reproduce(STUDY, claims=["1", "2", "5"], store=store), figures=False), "page"
    )
    assert "Untold. (claims 5, 2)" in page


def test_what_stands_in_the_way_of_a_claim_is_said_until_it_has_been_measured(store):
    page = markdown(results_document(reproduce(STUDY, store=store), figures=False), "page")
    assert "**2. larger products are larger** (ours). Not run: three has to be counted first." in page
    page = markdown(results_document(reproduce(STUDY, claims=["2"], store=store), figures=False), "page")
    assert "counted first" not in page


def test_a_lesson_of_an_unknown_claim_is_refused():
    with pytest.raises(InputError, match="got '17'"):
        replace(STUDY, learned=(Lesson("No such thing.", ("17",)),))


def test_pages_tell_our_claims_and_bounds_from_the_papers(store):
    page = markdown(results_document(reproduce(STUDY, claims=["1", "2"], store=store), figures=False), "page")
    assert "larger products are larger (ours)" in page
    assert "products are positive (ours)" not in page
    assert "as published: above 3.5" in page


def test_replications_name_every_verdict_that_differs(store):
    first = reproduce(STUDY, claims=["5"], seeds=7, store=store)
    second = reproduce(STUDY, claims=["5"], seeds=7, seed_offset=8, store=store)
    found = agreement(first, second)
    assert found.changed == {"5": ("open", "reproduced")}
    assert found.decided == 0
    text = markdown(results_document(first, others=[second], figures=False), "page")
    assert "5 (open, reproduced)" in text
