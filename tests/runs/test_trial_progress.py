"""Progress over groups of trials."""

import pytest

from recombine.parts import Part
from recombine.runs import Failed, Finished, Progress, Result, Started, Trial, trial_progress


class Line:
    def __init__(self):
        self.events = []

    def update(self, fraction):
        self.events.append(round(fraction, 3))

    def finish(self):
        self.events.append("done")


class Display:
    def __init__(self):
        self.lines = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def line(self, label, detail):
        self.lines[label.strip(), detail] = Line()
        return self.lines[label.strip(), detail]


def trial(n):
    return Trial(Part("types:SimpleNamespace", n=n), probes=(Part("builtins:vars"),), seeds=(0,))


def result(one):
    return Result(one, ("finished",), {}, {}, 0.0, "0", "here", "now")


@pytest.fixture
def shown(monkeypatch):
    made = Display()
    monkeypatch.setattr(trial_progress, "progress", lambda **_: made)
    return made


def test_each_group_has_a_line_and_long_trials_count_more(shown):
    short, long, other = trial(1), trial(3), trial(5)
    with trial_progress.TrialProgress(lambda t: t.task["n"], unit="seed") as progress:
        progress.expect({"a": [short, long], "bb": [other]})
        progress(Started(short, 0))
        progress(Finished(result(short), from_store=False))
        progress(Progress(long, 0.5))
        progress(Finished(result(long), from_store=False))
        progress(Failed(other, "why"))
    assert list(shown.lines) == [("a", "2 seeds"), ("bb", "1 seed")]
    assert [line.events for line in shown.lines.values()] == [[0.0, 0.25, 0.625, "done"], ["done"]]


def test_trials_from_the_store_are_not_work(shown):
    first, second = trial(1), trial(3)
    with trial_progress.TrialProgress(lambda t: 1.0) as progress:
        progress.expect({"a": [first, second]})
        progress(Finished(result(first), from_store=True))
        assert not shown.lines
        progress(Progress(second, 0.5))
    assert {label: line.events for label, line in shown.lines.items()} == {("a", "1 trial"): [0.5]}


@pytest.mark.parametrize(
    ("long", "lines"), [(1e9, {}), (-1.0, {("listing", "250 trials"): [0.404, 0.804, "done"]})]
)
def test_listing_trials_is_shown_if_it_takes_long(monkeypatch, long, lines):
    monkeypatch.setattr(trial_progress, "LONG", long)
    display = Display()
    assert list(trial_progress.counted(range(250), 250, display)) == list(range(250))
    assert {key: line.events for key, line in display.lines.items()} == lines
