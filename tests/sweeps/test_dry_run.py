"""What a sweep would take."""

import json

import pytest

from recombine import InputError, Part, Recipe, nets
from recombine.sweeps import plan


def planned(**change):
    settings = {
        "task": Part("sweep_parts:sums"),
        "net": Part(nets.mlp, inputs=6, width=4, depth=1, outputs=1),
        "recipe": Recipe(steps=30),
        "seeds": 3,
        "over": {"net.width": [4, 5], "recipe.optimiser.learning_rate": [0.1, 0.2]},
    }
    return plan(**settings | change)


def test_trials_and_programs_are_counted_and_nothing_is_stored(store):
    estimate = planned().dry_run(store=store, jobs=2, quiet=True)
    assert (estimate.trials, estimate.stored, estimate.left, estimate.programs) == (12, 0, 12, 2)
    assert estimate.workers == 2
    assert estimate.minutes > 0
    assert len(estimate.measured) == 2
    assert store.count() == 0
    assert str(estimate).startswith("12 trials: 0 in the store, 12 to run, 2 programs to compile\nabout ")
    assert json.loads(json.dumps(estimate.to_dict()))["trials"] == 12


def test_what_is_stored_does_not_count(store):
    planned(over={"net.width": [4]}).run(store=store, quiet=True)
    over = {"net.width": [4, 5]}
    assert planned(over=over).dry_run(store=store, quiet=True).left == 3
    assert planned(over=over).dry_run(store=store, quiet=True, fresh=True).left == 6
    estimate = planned(over={"net.width": [4]}).dry_run(store=store, quiet=True)
    assert (estimate.left, estimate.minutes) == (0, 0.0)
    assert str(estimate).endswith("nothing is left to run")


def test_a_trial_that_fails_is_named(store, plan_numbers):
    estimate = plan_numbers({"task.n": [-1]}).dry_run(store=store, quiet=True)
    assert "a trial that was tried fails: ValueError: n is negative" in str(estimate)
    assert estimate.minutes is None
    assert estimate.to_dict()["errors"] == ["ValueError: n is negative"]
    assert (estimate.programs, estimate.left) == (0, 2)


def test_on_a_cluster_the_number_of_workers_may_be_unknown(store, plan_numbers):
    estimate = plan_numbers({"task.n": [1]}).dry_run(store=store, on="ray", quiet=True)
    assert estimate.minutes is None
    assert "of one core in all" in str(estimate)
    assert plan_numbers().dry_run(store=store, on="ray", jobs=4, quiet=True).workers == 4


def test_wrong_options(store, plan_numbers):
    for options in ({"jobs": -1}, {"jobs": 1.5}, {"on": "mars"}):
        with pytest.raises(InputError):
            plan_numbers().dry_run(store=store, quiet=True, **options)
