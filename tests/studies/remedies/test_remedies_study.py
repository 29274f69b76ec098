"""The study from end to end, and its rules on made-up evidence."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.studies import load
from recombine.studies.evidence import Arm, Evidence
from recombine.studies.remedies.first_choice import BY_KIND, FOR_ALL, chance, choices, hits
from recombine.studies.remedies.forecast_section import forecasts, rank_correlation
from recombine.studies.remedies.matrix import entry, gains
from recombine.studies.remedies.published_remedies import REMEDIES
from recombine.studies.remedies.sweep_arms import WORLDS, all_arms, arm_name
from recombine.studies.remedies.track_record import track_record
from recombine.studies.remedies.tuning import SEEDS, candidates, strength_to_use
from recombine.studies.remedies.worlds import worlds


def arm(scores: list[float], fits: list[bool] | None = None) -> Arm:
    n = len(scores)
    fitted = np.array([True] * n if fits is None else fits, dtype=float)
    return Arm(tuple(range(n)), ("finished",) * n, {"score": np.array(scores), "fits": fitted}, {})


def evidence(remedy: list[float], fits: list[bool] | None = None) -> Evidence:
    plain = [0.5, 0.6, 0.7, 0.5, 0.6, 0.7]
    return Evidence({"bumps/none": arm(plain), "bumps/L1": arm(remedy, fits)}, "quick")


@pytest.mark.parametrize(
    ("remedy", "fits", "mark"),
    [
        ([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], None, "helps"),
        ([0.9, 0.8, 0.9, 0.9, 0.8, 0.9], None, "harms"),
        ([0.1, 0.2, 0.3, 0.1, 0.2, 0.8], None, "no clear effect"),
        ([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [True, True, False, False, False, False], "does not fit"),
        # Five seeds cannot exclude anything at 95%.
        ([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [True, True, True, True, True, False], "no clear effect"),
    ],
)
def test_marks(remedy: list[float], fits: list[bool] | None, mark: str) -> None:
    assert entry(evidence(remedy, fits), "bumps", "L1").mark == mark


def test_gains_are_paired_by_seed() -> None:
    found = gains(evidence([0.1, 0.2, 0.3, 0.1, 0.2, 0.3]), "bumps", "L1")
    np.testing.assert_allclose(found, 0.4)


def test_a_remedy_that_cannot_be_applied_says_why() -> None:
    found = entry(evidence([0.0] * 6), "addition", "forced rendering")
    assert (found.mark, found.reason) == (
        "cannot be applied",
        "outputs are numbers: there is nothing to render",
    )


def test_the_first_choice_comes_from_other_worlds() -> None:
    made = {}
    for world in WORLDS:
        for remedy, score in (("none", 0.9), ("L1", 0.5), ("activity noise", 0.7)):
            made[arm_name(world, remedy)] = arm([score] * 6)
    # In the world that is left out L1 harms, which the choice must not know.
    made["addition/L1"] = arm([2.0] * 6)
    found = Evidence(made, "quick")
    assert choices(found)["addition"] == {BY_KIND: "L1", FOR_ALL: "L1"}
    assert entry(found, "addition", "L1").mark == "harms"
    assert hits(found, BY_KIND).value == pytest.approx((len(WORLDS) - 1) / len(WORLDS))
    assert chance(found) == pytest.approx((2 * len(WORLDS) - 1) / (2 * len(WORLDS)))


def test_rank_correlation_per_seed() -> None:
    measured = np.array([[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]])
    np.testing.assert_allclose(rank_correlation([0.1, 0.2, 0.3, 0.4], measured), [1.0, -1.0])
    assert np.isnan(rank_correlation([0.1, 0.2, 0.3], measured[:3])).all()


def test_forecasts_exist_for_all_worlds_with_cells() -> None:
    found = forecasts("smoke")
    assert set(WORLDS) - set(found) == {"teachers"}
    assert all(0 <= values["leak"] <= 1 for values in found.values())


def test_tuning_uses_other_seeds_and_holds_out_seen_cells() -> None:
    tuned = 0
    for world in worlds("quick"):
        for remedy in REMEDIES:
            for trials in candidates(world, remedy).values():
                assert [seed for trial in trials for seed in trial.seeds] == list(SEEDS)
                assert all(trial.task["held_out"] > 0 for trial in trials)
                tuned += 1
    assert tuned > 100
    assert min(SEEDS) >= 5000


@pytest.mark.parametrize(
    ("errors", "strength"),
    [
        ({1.0: [0.1, 0.1, 0.1], 2.0: [0.2, 0.2, 0.2]}, 1.0),
        ({1.0: [0.2, 0.2, 0.2], 2.0: [0.1, 0.1, 0.1]}, 2.0),
        ({1.0: [0.1, 0.1, 0.1], 2.0: [0.1, 0.1, 0.1]}, 2.0),  # among equals the strongest
        # Worse by 0.01 on average, with a standard error of 0.015; then of 0.
        ({1.0: [0.1, 0.1, 0.1, 0.1], 2.0: [0.14, 0.12, 0.08, 0.1]}, 2.0),
        ({1.0: [0.1, 0.1, 0.1, 0.1], 2.0: [0.11, 0.11, 0.11, 0.11]}, 1.0),
        ({1.0: [0.2, 0.2], 2.0: [0.1, float("nan")]}, 1.0),  # diverged
    ],
)
def test_the_strongest_setting_within_a_standard_error_is_chosen(
    errors: dict[float, list[float]], strength: float
) -> None:
    assert strength_to_use(errors) == strength


def test_the_track_record_counts_worlds() -> None:
    made = {}
    for world in WORLDS:
        made |= {
            arm_name(world, "none"): arm([0.9] * 6),
            arm_name(world, "weighted activity"): arm([0.5] * 6),
        }
    made["addition/weighted activity"] = arm([1.0] * 6)
    found = track_record(Evidence(made, "quick"))["weighted_activity"]
    assert found["all"] == {"worlds": 12, "helped": 11, "harmed": 1, "median_gain": 0.4}
    assert found["labels"]["worlds"] == 4


def test_every_arm_is_named_after_its_world_and_remedy() -> None:
    for name in all_arms():
        world, remedy = name.split("/")
        assert world in WORLDS
        assert remedy in {one.name for one in REMEDIES}


def test_the_matrix_shows_what_helps_and_what_harms() -> None:
    made = {"bumps/none": arm([0.9] * 6), "bumps/L1": arm([0.5] * 6), "bumps/activity noise": arm([1.2] * 6)}
    figure = load("remedies").drawings[0].draw(Evidence(made, "quick"))
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {"0.90", "0.50+", "1.20−"} <= set(words)
    assert words.count("·") == sum(isinstance(r.apply(worlds("quick")[0], 1.0), str) for r in REMEDIES)
