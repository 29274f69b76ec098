from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.parts import Part
from recombine.runs import Trial
from recombine.runs.trial_queue import MUCH_LONGER, RETRY_SECONDS, WAIT_SECONDS, TrialQueue
from recombine.training.recipe import Recipe, adam


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


def drain(queue, program=None):
    costs = []
    while (trial := queue.take(program)) is not None:
        costs.append(cost(trial))
        program = trial.program
    return costs


def test_without_costs_only_programs_change_the_order(trials):
    assert drain(TrialQueue(trials)) == [1, 3, 5, 2, 4, 6]


def test_longest_first_unless_a_compiled_program_suits_a_similar_trial(trials):
    # 6, then 4 (same program); 2 has it too, but 5 is more than twice as long; then 3 (1 is too short for 2).
    assert drain(TrialQueue(trials, cost)) == [6, 4, 5, 3, 1, 2]


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def test_a_postponed_trial_comes_back(trials, clock):
    queue = TrialQueue(trials[:1], cost, clock=clock)
    trial = queue.take()
    assert len(queue) == 0
    queue.postpone(trial)
    assert len(queue) == 1
    assert queue.take() is None
    clock.now += RETRY_SECONDS
    assert queue.take() is trial


def test_a_trial_that_holds_everything_up_is_named_once(trials, clock):
    queue = TrialQueue(trials[:2], cost, clock=clock)
    queue.postpone(queue.take())
    clock.now = WAIT_SECONDS
    assert queue.blocked() == []  # the other one can be begun meanwhile
    other = queue.take()
    blocked = queue.take()
    queue.postpone(blocked)
    assert {other, blocked} == set(trials[:2])
    waited = queue.blocked()
    assert queue.blocked() == []
    assert len(waited) == 1


def test_a_worker_that_has_to_compile_prefers_what_nobody_else_compiles(trials):
    queue = TrialQueue(trials, cost)
    first = queue.take()
    second = queue.take(others={first.program})
    assert (cost(first), cost(second)) == (6, 5)
    assert second.program != first.program
    # Nothing else is left that is at least half as long: the longest comes first, whoever compiles it.
    queue = TrialQueue([trials[5], trials[1], trials[0]], cost)
    assert cost(queue.take(others={trials[5].program})) == 6


def test_a_trial_that_fails_comes_back_as_often_as_asked(trials):
    queue = TrialQueue(trials[:1], cost, retries=2)
    for expected in (True, True, False):
        assert queue.retry(queue.take()) is expected
    assert len(queue) == 0


@given(
    costs=st.lists(st.integers(1, 20), max_size=40),
    programs=st.lists(st.integers(0, 3), min_size=40, max_size=40),
)
def test_every_trial_is_taken_once_and_a_much_longer_one_never_waits(costs, programs):
    trials = [
        Trial(Part("a:b", cost=c, i=i), (), (0,), Part("a:net", width=programs[i]), Recipe(steps=1))
        for i, c in enumerate(costs)
    ]
    queue, waiting, program = TrialQueue(trials, cost), set(trials), None
    while (trial := queue.take(program)) is not None:
        assert max(map(cost, waiting)) <= MUCH_LONGER * cost(trial)
        waiting.remove(trial)
        program = trial.program
    assert not waiting
    assert not len(queue)
