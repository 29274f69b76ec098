"""The best start by reconstruction is taken further, and everything follows from the task."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from recombine.parts import Part
from recombine.studies.interaction_asymmetry.best_of_starts import best_of_starts
from recombine.studies.interaction_asymmetry.section4_theorems import vector_net
from recombine.tasks import interaction_task

pytestmark = pytest.mark.usefixtures("compile_quickly")
SETTINGS = {"net": vector_net(1, "additive"), "rate": 5e-3, "batch": 50}


@cache
def values_of(seed: int, **settings: int | float) -> dict[str, np.ndarray]:
    task = interaction_task(outputs=40, rows=500, test=200, seed=seed)
    chosen = {"starts": 3, "short_steps": 20, "further_steps": 100, "stop_misfit": 1e-4, **settings}
    values: dict[str, np.ndarray] = Part(best_of_starts, **SETTINGS, **chosen)(task)
    return values


def test_the_best_start_is_trained_further() -> None:
    values = values_of(0)
    assert values["start_misfits"].shape == (3,)
    assert len(set(values["start_misfits"].tolist())) == 3
    assert values["misfit"] < values["start_misfits"].min()
    assert values["misfit"] == pytest.approx(1 - values["fit_r2"])


def test_more_starts_contain_the_first_ones_and_begin_no_worse() -> None:
    few, many = values_of(0), values_of(0, starts=5)
    np.testing.assert_allclose(many["start_misfits"][:3], few["start_misfits"], rtol=1e-3)


def test_it_stops_at_the_misfit_that_is_asked_for() -> None:
    """At a generous misfit training ends at the first of the records, at a strict one it goes on."""
    loose, strict = values_of(0, stop_misfit=0.9), values_of(0)
    assert strict["misfit"] < loose["misfit"] < 0.9


def test_other_seeds_have_other_starts() -> None:
    again = values_of.__wrapped__(0)  # trained once more
    assert values_of(0)["misfit"] == again["misfit"]
    assert values_of(0)["misfit"] != values_of(1)["misfit"]
