import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from recombine.errors import InputError
from recombine.metrics import centred_gram, fold_numbers, linear_probe, ridge_probe
from recombine.metrics.gram import unit_blocks

LEVELS = np.indices((12, 12)).reshape(2, -1).T.astype(float)


def test_perfect_redundant_and_partial_codes():
    perfect = LEVELS @ np.array([[2.0, 0.0], [0.0, -1.0]]) + 5
    redundant = np.concatenate([perfect, perfect, perfect.sum(axis=1, keepdims=True)], axis=1)
    one_code_for_both = LEVELS.sum(axis=1, keepdims=True)
    for probe in (linear_probe, ridge_probe):
        np.testing.assert_allclose(probe(perfect, LEVELS)["r2"], 1.0, atol=1e-6)
        np.testing.assert_allclose(probe(redundant, LEVELS)["r2"], 1.0, atol=1e-6)
        np.testing.assert_allclose(probe(one_code_for_both, LEVELS)["r2"], 0.5, atol=0.05)


def test_linear_probe_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    activations = np.maximum(LEVELS @ rng.normal(size=(2, 30)) + rng.normal(size=30), 0)
    expected = [LinearRegression().fit(activations, v).score(activations, v) for v in LEVELS.T]
    np.testing.assert_allclose(linear_probe(activations, LEVELS)["r2"], expected, atol=1e-9)


def test_chance_of_the_linear_probe():
    rng = np.random.default_rng(0)
    scores = [linear_probe(rng.normal(size=(144, 60)), LEVELS) for _ in range(20)]
    assert np.mean([s["r2"] for s in scores]) == pytest.approx(scores[0]["chance"], abs=0.03)
    assert scores[0]["chance"] == pytest.approx(60 / 143)


def test_wide_layers_are_sent_to_the_ridge_probe():
    noise = np.random.default_rng(0).normal(size=(144, 143))
    with pytest.raises(InputError, match="ridge_probe"):
        linear_probe(noise, LEVELS)
    assert (ridge_probe(noise, LEVELS)["r2"] < 0.1).all()


@pytest.mark.parametrize("units", [20, 400])
@pytest.mark.parametrize("penalty", [1e-4, 1.0])
def test_dual_ridge_is_primal_ridge(units, penalty):
    rng = np.random.default_rng(1)
    activations = np.tanh(LEVELS @ rng.normal(size=(2, units)) / 9) + 3
    fold = fold_numbers(144, 5, seed=4)
    predicted = np.empty_like(LEVELS)
    for k in range(5):
        train, test = fold != k, fold == k
        centred = activations[train] - activations[train].mean(axis=0)
        alpha = penalty * (centred**2).sum() / train.sum()
        predicted[test] = (
            Ridge(alpha, solver="svd").fit(activations[train], LEVELS[train]).predict(activations[test])
        )
    expected = 1 - ((LEVELS - predicted) ** 2).sum(axis=0) / ((LEVELS - LEVELS.mean(axis=0)) ** 2).sum(axis=0)
    r2 = ridge_probe(activations, LEVELS, penalties=(penalty,), seed=4)["r2"]
    np.testing.assert_allclose(r2, expected, atol=1e-8)


def test_penalty_is_chosen_by_leave_one_out():
    """The chosen penalty is the best of the list by brute-force leave-one-out on each training part."""
    rng = np.random.default_rng(2)
    activations = rng.normal(size=(30, 50))
    values = activations[:, :1] + 0.5 * rng.normal(size=(30, 1))
    penalties = (1e-3, 1e-1, 10.0)
    fold = fold_numbers(30, 3)
    predicted = np.empty_like(values)
    for k in range(3):
        a, v = activations[fold != k], values[fold != k]
        scale = ((a - a.mean(axis=0)) ** 2).sum() / len(a)

        def left_out(p, a=a, v=v, scale=scale):
            keep = ~np.eye(len(a), dtype=bool)
            fits = [Ridge(p * scale, solver="svd").fit(a[m], v[m]).predict(a[~m])[0] for m in keep]
            return ((np.array(fits).ravel() - v.ravel()) ** 2).sum()

        model = Ridge(min(penalties, key=left_out) * scale, solver="svd").fit(a, v)
        predicted[fold == k] = model.predict(activations[fold == k]).reshape(-1, 1)
    expected = 1 - ((values - predicted) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    r2 = ridge_probe(activations, values, folds=3, penalties=penalties)["r2"]
    assert r2[0] == pytest.approx(expected)


def test_scores_do_not_depend_on_the_scale_of_the_layer():
    wide = np.maximum(LEVELS @ np.random.default_rng(0).normal(size=(2, 300)), 0)
    np.testing.assert_allclose(
        ridge_probe(wide, LEVELS)["r2"], ridge_probe(1e-6 * wide, LEVELS)["r2"], atol=1e-6
    )


def test_dead_layers_and_constant_factors():
    assert (ridge_probe(np.zeros((144, 7)), LEVELS)["r2"] <= 0).all()
    assert (linear_probe(np.zeros((144, 7)), LEVELS)["r2"] == 0).all()
    assert np.isnan(linear_probe(LEVELS, np.ones((144, 1)))["r2"]).all()


def test_gram_is_blockwise_exact(monkeypatch):
    monkeypatch.setattr(
        "recombine.metrics.gram.unit_blocks", lambda units, **_: unit_blocks(units, 8, block_bytes=56)
    )
    activations = np.random.default_rng(0).normal(size=(9, 5, 8)).astype(np.float32)
    centred = activations.reshape(9, 40).astype(float)
    centred -= centred.mean(axis=0)
    np.testing.assert_allclose(centred_gram(activations), centred @ centred.T, atol=1e-12)


def test_rows_of_one_group_do_not_give_each_other_away():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 4)
    useless = rng.normal(size=(30, 60))[group]  # an accidental signature of every group, and nothing else
    values = rng.normal(size=(30, 1))[group]
    assert ridge_probe(useless, values)["r2"][0] > 0.9
    assert -0.6 < ridge_probe(useless, values, groups=group)["r2"][0] < 0.3
    useful = np.concatenate([useless, 3 * values], axis=1) + 0.05 * rng.normal(size=(120, 61))
    assert ridge_probe(useful, values, groups=group)["r2"][0] > 0.5
