"""What a worker does between two trials: it gives up the programs of the last one when it must compile others."""

import multiprocessing

import pytest

from recombine.runs import worker
from recombine.runs.trial import canonical_json
from recombine.training import freeing_memory


@pytest.fixture
def send_order(store, make_trial, monkeypatch):
    """A function that sends an order to a worker in this process and counts how often programs are forgotten."""
    forgotten = []
    monkeypatch.setattr(freeing_memory, "forget_programs", lambda: forgotten.append(True))
    here, there = multiprocessing.Pipe()

    def send(program, before, *, n=3):
        trial = make_trial(n=n)
        order = {"trial": canonical_json(trial), "key": trial.key, "program": program, "fresh": False}
        reply = worker._reply(there, store, order, before)
        times, forgotten[:] = len(forgotten), []
        return reply, times

    yield send
    here.close()
    there.close()


def test_programs_are_forgotten_when_the_next_trial_needs_another(send_order):
    assert send_order("b", before="a") == (("done", False), 1)


@pytest.mark.parametrize("before", [None, "a"])
def test_programs_are_kept_for_the_first_trial_and_for_the_same_program(send_order, before):
    assert send_order("a", before=before) == (("done", False), 0)


def test_programs_are_kept_when_the_store_has_the_result(send_order):
    send_order("a", before=None)
    assert send_order("b", before="a") == (("done", True), 0)
