import time
from dataclasses import replace

import pytest

from recombine.fit.recipe import Recipe, adam
from recombine.parts import Part
from recombine.runs.schedule import RETRY_SECONDS, Schedule


@pytest.fixture
def trials(trial):
    """Costs 1 to 6, programs A and B in turn."""
    return [
        replace(
            trial,
            task=Part("a:b", cost=c),
            net=Part("a:net", width=c % 2),
            recipe=Recipe(steps=1, optimiser=adam(c)),
        )
        for c in range(1, 7)
    ]


def cost(trial):
    return trial.task["cost"]


def drain(schedule, program=None):
    costs = []
    while (trial := schedule.take(program)) is not None:
        costs.append(cost(trial))
        program = trial.program
    return costs


def test_without_costs_the_order_is_kept_but_for_programs(trials):
    assert drain(Schedule(trials)) == [1, 3, 5, 2, 4, 6]


def test_longest_first_unless_a_compiled_program_waits_for_a_trial_not_much_shorter(trials):
    # 6, then 4 (same program); 2 has it too, but 5 is more than twice as long; then 3 (1 is too short for 2).
    assert drain(Schedule(trials, cost)) == [6, 4, 5, 3, 1, 2]


def test_a_postponed_trial_comes_back(trials):
    schedule = Schedule(trials[:1], cost)
    trial = schedule.take()
    assert len(schedule) == 0
    schedule.postpone(trial)
    assert len(schedule) == 1
    assert schedule.take() is None
    time.sleep(RETRY_SECONDS + 0.02)
    assert schedule.take() is trial
