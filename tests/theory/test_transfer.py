"""Forecasts of finetuning: published values, the regimes' signatures, and wrong input."""

import json

import numpy as np
import pytest

from recombine import InputError
from recombine.tasks import diagonal_teachers
from recombine.theory import phase_diagram, predict_transfer
from recombine.theory.transfer import FROM_SCRATCH, PROBE, finetuned


def teachers(features=1000, known=40, active=40, *, seed=0):
    pair = diagonal_teachers(
        inputs=features, known=known, active=active, overlap=active, amplitude="1/k", seed=seed
    )
    return pair.aux.coefficients, pair.main.coefficients


def test_published_networks_are_forecast():
    """Mean loss of the subset task at n = 32: 40 features .24, .48 and .67; 5 features below .2, .01 and .01."""
    scales = [1.0, 0.1, 0.01]

    def means(active):
        found = [
            predict_transfer(*teachers(active=active, seed=s), n=32, scale=scales, draws=1, seed=s)
            for s in range(12)
        ]
        return [np.mean([one.errors[finetuned(s)] for one in found]) for s in scales]

    np.testing.assert_allclose(means(40), [0.24, 0.48, 0.67], atol=0.08)
    assert (np.array(means(5)) < [0.2, 0.01, 0.01]).all()


def test_small_forecasts_show_the_regimes():
    aux, main = teachers(100, 8, 2)
    found = predict_transfer(aux, main, n=[6, 24], scale=[10.0, 1.0, 0.1])
    assert found.overlap == 1
    assert found.regimes[10.0]["lazy"] == 1
    assert found.regimes[0.1]["nested"] == 1
    assert set(found.errors) == {FROM_SCRATCH, PROBE, *map(finetuned, (10.0, 1.0, 0.1))}
    lazy, probe = (found.errors[name] for name in (finetuned(10.0), PROBE))
    np.testing.assert_allclose(
        lazy[0], probe[0], rtol=0.05, atol=1e-4
    )  # large weights move like a linear probe
    fresh = np.zeros(100)
    fresh[np.flatnonzero(aux == 0)[:2]] = 1.0
    assert predict_transfer(aux, fresh, n=6).overlap == 0
    assert predict_transfer(aux, fresh, n=6, scale=0.01).regimes[0.01]["rich"] == 1


def test_forecasts_present_themselves(tmp_path):
    found = predict_transfer(*teachers(60, 6, 3), n=[8, 16], scale=[1, 0.1], draws=3)
    assert json.loads(json.dumps(found.to_dict()))["n"] == [8, 16]
    assert found.table().shape == (2 * 4 * 3, 4)
    assert "from scratch" in str(found)
    assert repr(found).startswith("TransferForecast(overlap 100%; best 8 rows")
    page = found.page().write(tmp_path / "transfer.html")
    assert "<figure" in page.read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_rows():
    one, same, other = (predict_transfer(*teachers(60, 6, 3), n=8, seed=s, draws=2) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.errors[PROBE], same.errors[PROBE])
    assert (one.errors[PROBE] != other.errors[PROBE]).all()


def test_phase_diagrams_of_overlap_and_sparsity():
    shared = phase_diagram(scales=[1, 0.1], overlaps=[0, 8], features=60, known=8, n=16, draws=3)
    assert shared.errors.shape == (2, 2)
    assert (shared.errors[1] < shared.errors[0]).all()  # known features help
    sparse = phase_diagram(scales=[1, 0.1], active=[1, 8], features=60, known=8, n=12, draws=3)
    assert sparse.best_scale[0] == 0.1
    assert sparse.best_scale[1] == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: predict_transfer([1.0, 0.0], [1.0], 4), "as many features as beta_aux"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 0.0], 4), "beta_main: got 'only zeros'"),
        (lambda: predict_transfer([1.0, np.inf], [0.0, 1.0], 4), "beta_aux: got 'NaN or infinity'"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 0), "n: got 0, expected a positive whole number"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2.5), "n: got 2.5"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], [2, 2]), "several different ones"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2, scale=0), "scale: got 0"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2, scale=-1.0), "scale: got -1.0"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 10**9), "at most 4096 rows"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2, draws=10**6), "at most 10000 programmes"),
        (lambda: phase_diagram(scales=[1]), "overlaps, active: got 'both or neither'"),
        (lambda: phase_diagram(scales=[1], active=[50]), "active: got 50"),
        (lambda: phase_diagram(scales=[1], active=[5], draws=0), "draws: got 0"),
        (lambda: phase_diagram(scales=[1], active=[4.5]), "active: got 4.5"),
        (lambda: phase_diagram(scales=["a"], active=[4]), "scales: got 'a'"),
        (lambda: phase_diagram(scales=[1], active=[4], n=[8, 12]), "n: got \\[8, 12\\], expected one number"),
        (lambda: phase_diagram(scales=[1], active=[]), "active: got \\[\\]"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2, initial=0), "initial: got 0"),
        (lambda: predict_transfer([1.0, 0.0], [0.0, 1.0], 2, initial=-1e-3), "initial: got -0.001"),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_scales_that_are_close_have_curves_of_their_own():
    aux, main = np.eye(30)[0], np.eye(30)[0]
    found = predict_transfer(aux, main, 8, [1, 1.01, 1.02], draws=1)
    assert {finetuned(s) for s in (1, 1.01, 1.02)} <= set(found.errors)
    assert len(found.regimes) == 3


def test_seeds_that_are_none_get_one_line():
    with pytest.raises(InputError, match="seed: got -1, expected a whole number"):
        predict_transfer(np.eye(5)[0], np.eye(5)[0], 4, seed=-1)


def test_single_values_are_a_grid_of_one():
    one = phase_diagram(scales=1.0, active=4, features=60, known=8, n=12, draws=2)
    several = phase_diagram(scales=[1.0], active=[4], features=60, known=8, n=12, draws=2)
    assert one.errors.tolist() == several.errors.tolist()
