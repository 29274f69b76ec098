"""Running and recalling studies, with trials that train nothing."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Store, Trial
from recombine.studies import STUDIES, load
from recombine.studies.claims import SCALES, Claim, Condition, Verdict
from recombine.studies.reproduction import arms_to_run, recall, reproduce
from recombine.studies.results_page import claims_table, results_document
from recombine.studies.study import Study, check_scale, split_seeds


def make_task(n, seed):
    return {"n": n, "seed": seed}


def measure(task):
    return {"product": task["n"] * task["seed"]}


def arms(scale):
    trials = {
        name: Trial(Part(f"{__name__}:make_task", n=n), (Part(f"{__name__}:measure"),), (1, 2))
        for name, n in (("cheap", 2), ("dear", 3))
    }
    return {name: split_seeds(trial) for name, trial in trials.items()}


def check(arm):
    def judge(evidence):
        return Verdict.of_arm(evidence, arm, [Condition("product", evidence[arm]["product"], ">=", 2)])

    return judge


STUDY = Study(
    "tiny",
    "A tiny study",
    "nobody",
    arms,
    (
        Claim("1", "cheap", "–", "2", ("cheap",), check("cheap")),
        Claim("2", "dear", "–", "3", ("dear",), check("dear"), on_request=True, minutes=3),
    ),
    (),
    lambda trial: 1.0,
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_a_study_runs_what_is_not_on_request(store):
    result = reproduce(STUDY, store=store)
    assert [outcome.word for outcome in result.outcomes] == ["holds", "undecided"]
    assert set(result.evidence) == {"cheap"}
    np.testing.assert_array_equal(result.evidence["cheap"]["product"], [2, 4])
    assert result.to_dict()["claims"][1]["verdict"] == "undecided"


def test_a_claim_on_request_runs_when_it_is_named(store):
    result = reproduce(STUDY, claims=["2"], store=store)
    assert [(outcome.claim.id, outcome.word) for outcome in result.outcomes] == [("2", "holds")]


def test_the_seed_offset_shifts_every_seed(store):
    result = reproduce(STUDY, seed_offset=10, store=store)
    assert result.evidence["cheap"].seeds == (11, 12)
    np.testing.assert_array_equal(result.evidence["cheap"]["product"], [22, 24])


def test_recall_runs_nothing(store):
    assert not recall(STUDY, store=store).evidence
    reproduce(STUDY, store=store)
    assert [outcome.word for outcome in recall(STUDY, store=store).outcomes] == ["holds", "undecided"]


def test_scale_paper_runs_everything():
    assert set(arms_to_run(STUDY, "paper", STUDY.claims, on_request=False)) == {"cheap", "dear"}


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: load("nothing"), "study: got 'nothing', expected one of forced-rendering"),
        (lambda: load("forced_rendring"), "did you mean 'forced-rendering'\\?"),
        (lambda: reproduce(7), "study: got 7, expected a Study or one of the names forced-rendering"),
        (lambda: reproduce(None), "study: got None"),
        (lambda: reproduce(STUDY, claims="12"), "claims: got '12', expected a list"),
        (lambda: reproduce(STUDY, seed_offset="1"), "seed_offset: got '1', expected a whole number"),
        (lambda: check_scale(None), "scale: got None"),
        (lambda: check_scale("huge"), "scale: got 'huge', expected one of smoke, quick, paper"),
        (lambda: STUDY.claim("99"), "claim: got '99', expected one of 1, 2"),
    ],
)
def test_unknown_names_are_refused_in_one_line(call, line):
    with pytest.raises(InputError, match=line):
        call()


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_has_arms_and_unique_ids(name):
    study = load(name)
    quick = study.arms("quick")
    assert len({claim.id for claim in study.claims}) == len(study.claims)
    run = {name for claim in study.claims for name in (*claim.needs, *claim.also)}
    for scale in ("quick", "paper"):
        decided = [c for c in study.claims if SCALES.index(c.decided_at) <= SCALES.index(scale)]
        needed = {name for claim in decided for name in claim.needs}
        assert needed <= set(study.arms(scale)) <= run, scale
    for trials in quick.values():
        for trial in trials:
            assert study.cost(trial) > 0


@pytest.mark.parametrize("name", STUDIES)
def test_every_trial_of_every_scale_has_its_own_key(name):
    study = load(name)
    keys = [t.key for scale in ("smoke", "quick", "paper") for a in study.arms(scale).values() for t in a]
    repeated = len(keys) - len(set(keys))
    assert repeated < len(keys) / 4  # a few arms are the same at several scales


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_runs_at_scale_smoke(name, tmp_path):
    result = reproduce(
        load(name), scale="smoke", store=Store(tmp_path), jobs=0
    )  # all cores have tests to run
    exact = {
        outcome.claim.id: outcome.word for outcome in result.outcomes if outcome.claim.decided_at == "smoke"
    }
    assert set(exact.values()) == {"holds"}, exact
    assert {o.word for o in result.outcomes if o.claim.decided_at != "smoke"} == {"undecided"}
    assert set(result.evidence) == set(load(name).arms("smoke"))


def test_a_page_shows_other_seeds_in_a_separate_section(tmp_path):
    store = Store(tmp_path / "store")
    result = reproduce(STUDY, store=store)
    reproduce(STUDY, store=store, seed_offset=10)
    page = results_document(result, more=[recall(STUDY, store=store, seed_offset=10)])
    text = page.write(tmp_path / "page.md").read_text(encoding="utf-8")
    assert "With other seeds, scale quick (seeds 11 to 12)" in text


def test_a_name_is_as_good_as_a_study(store):
    result = reproduce("forced-rendering", claims=["1"], store=store)
    assert result.study is load("forced-rendering")
    assert result.outcomes[0].word == "holds"


def test_a_reproduction_presents_itself(store, tmp_path):
    result = reproduce(STUDY, store=store)
    assert repr(result) == "Reproduction(tiny, scale quick, 2 seeds: 1 holds, 0 fails, 1 undecided)"
    assert "Of 2 claims" in str(result)
    assert "on request, about 3 min" in str(result)
    assert "<iframe" in result._repr_html_()
    with pytest.raises(InputError, match="figure: got 'tiny'"):
        result.figure()
    table = result.table()
    assert table["id"].to_list() == ["1", "2"]
    assert table["measured"].to_list() == [3.0, None]
    assert table.row(0, named=True)["high"] == 4.0
    page = result.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The numbers behind the verdicts" in page
    assert [str(row.entries[-1]) for row in claims_table(result).rows] == ["holds", "–"]
