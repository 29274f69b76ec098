"""Layers with known geometry: independent, mixed up, and bent where nothing was trained."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.cells import gather
from recombine.auditing.internals.layer_measures import measure_layers
from recombine.auditing.output_reading import read_outputs
from recombine.metrics import factorisation, metric_tensor, volume_gap
from recombine.spaces.observations import observe

N = 9
X, Y = np.indices((N, N)).reshape(2, -1)
SEEN = ~((X > 2) & (X < 6) & (Y > 2) & (Y < 6))
TABLE = {"x": X, "y": Y}


def layers(activity, ordered=(True, True), table=TABLE):
    result = observe({**table, "train": SEEN}, factors=["x", "y"], seen="train")
    zero = np.zeros(len(X))
    cells = gather(result, read_outputs(zero + 0.5 * np.arange(len(X)), zero))
    return measure_layers({"layer": activity}, cells, ordered=ordered)


def test_geometry_on_a_full_grid_is_that_of_the_probes():
    activity = np.random.default_rng(0).normal(size=(N * N, 6))
    result = layers(activity).layers[0]
    g = metric_tensor(activity.reshape(N, N, -1))
    assert result.factorisation.value == pytest.approx(factorisation(g), rel=1e-5)


def test_volumes_of_even_layers_are_those_of_the_probes():
    """Where a layer is not a grid of straight lines, steps to both sides and their sum have different lengths."""
    bent = np.stack([X + 0.3 * Y, Y**1.0, 0.5 * X], axis=1)
    g = metric_tensor(bent.reshape(N, N, -1))
    assert layers(bent).layers[0].volume_gap.value == pytest.approx(
        volume_gap(g, SEEN.reshape(N, N)), abs=1e-6
    )
    steep = np.stack([X + 0.02 * X**2, Y + 0.01 * X * Y], axis=1)
    g = metric_tensor(steep.reshape(N, N, -1))
    assert layers(steep).layers[0].volume_gap.value == pytest.approx(
        volume_gap(g, SEEN.reshape(N, N)), abs=0.01
    )


@pytest.mark.parametrize("n", [4, 5, 6, 9])
def test_codes_that_nothing_has_bent_are_not_warped(n):
    a, b = np.indices((n, n)).reshape(2, -1)
    hole = ~((a > 0) & (a < n - 1) & (b > 0) & (b < n - 1))
    corner = ~((a >= n // 2) & (b >= n // 2))
    words = {"a": np.array([f"w{i}" for i in a]), "b": np.array([f"v{i}" for i in b])}
    codes = {
        "indicators": np.concatenate([np.eye(n)[a], np.eye(n)[b]], axis=1),
        "numbers": np.stack([a, b], axis=1) * 1.0,
    }
    for seen in (hole, corner):
        for table in ({"a": a, "b": b}, words):
            for code in codes.values():
                report = audit(
                    table,
                    factors=["a", "b"],
                    seen=seen,
                    target=a + b,
                    prediction=a + b,
                    activations={"h": code},
                )
                assert report.finding("warped_geometry").holds is False


def test_a_shared_direction_is_found_for_text_levels_as_well():
    rng = np.random.default_rng(0)
    words = {"x": np.array([f"w{i}" for i in X]), "y": np.array([f"v{i}" for i in Y])}
    first = np.concatenate([np.eye(N)[X], np.eye(N)[Y]], axis=1) @ rng.normal(size=(2 * N, 100))
    shared = 10 * (rng.normal(size=N)[X] + rng.normal(size=N)[Y])[:, None] * rng.normal(size=(1, 100))
    for table in (TABLE, words):
        report = audit(
            table,
            factors=["x", "y"],
            seen=SEEN,
            target=X + 0.5 * Y,
            prediction=X + 0.5 * Y,
            activations={"first": first, "second": first + shared},
        )
        assert report.finding("re_entanglement").holds is True


def test_text_levels_have_effects_but_no_neighbours():
    words = {"x": np.array([f"w{(7 * i) % N}" for i in X]), "y": np.array([f"v{(5 * i) % N}" for i in Y])}
    one_hot = np.concatenate([np.eye(N)[X], np.eye(N)[Y]], axis=1)
    apart = layers(one_hot, (False, False), words).layers[0]
    assert apart.factorisation.value == pytest.approx(1.0, abs=1e-6)
    rng = np.random.default_rng(0)
    mixed = layers(rng.normal(size=N)[X][:, None] + rng.normal(size=N)[Y][:, None], (False, False), words)
    assert mixed.layers[0].factorisation.value < 0.75


def test_factors_that_are_there_can_be_read():
    rng = np.random.default_rng(0)
    both = np.stack([X, Y], axis=1) @ rng.normal(size=(2, 20))
    assert (layers(both).layers[0].readable > 0.99).all()
    only = X[:, None] @ rng.normal(size=(1, 20))
    readable = layers(only).layers[0].readable
    assert readable[0] > 0.99 > 0.1 > readable[1]


def code(values):
    return np.exp(-((np.arange(N) - values[:, None]) ** 2) / 2)


def findings(**activations):
    report = audit(
        TABLE,
        factors=["x", "y"],
        seen=SEEN,
        target=X + 0.5 * Y,
        prediction=X + 0.5 * Y,
        activations=activations,
    )
    return {one.id: one for one in report.findings}


def test_entangled_factors_are_reported_with_their_layer():
    first = np.concatenate([code(X), code(Y)], axis=1)
    mix = np.stack([X + Y, 0.15 * (X - Y)], axis=1).astype(float)  # both can be read, along nearly one line
    one = findings(first=first, second=first * 2, third=mix)["re_entanglement"]
    assert one.holds is True
    assert one.details["layer"] == "third"
    assert findings(first=first, second=first * 2)["re_entanglement"].holds is False


def test_layers_that_lost_a_factor_have_nothing_to_mix_up():
    first = np.concatenate([code(X), code(Y)], axis=1)
    assert findings(first=first, second=code(X))["re_entanglement"].holds is False


def test_a_layer_that_is_squeezed_where_nothing_was_trained_is_warped():
    even = np.stack([X, Y], axis=1).astype(float)
    middle = np.array([4.0, 4.0])
    near = np.abs(even - middle).max(axis=1, keepdims=True) <= 2
    bent = np.where(near, middle + 0.3 * (even - middle), even)
    one = findings(even=even, bent=bent)["warped_geometry"]
    assert one.holds is True
    assert one.details["layer"] == "bent"
    assert one.estimate.value < -0.3
    assert findings(even=even, again=even * 3)["warped_geometry"].holds is False


def test_salience_of_whole_cells_forecasts_a_leak():
    parts = np.concatenate([np.eye(N)[X], np.eye(N)[Y]], axis=1)
    whole = np.concatenate([0.3 * parts, 3 * np.eye(N * N)], axis=1)
    low, high = findings(parts=parts)["salience"], findings(whole=whole)["salience"]
    assert low.holds is False
    assert low.estimate.value > 0.95
    assert high.holds is True
    assert high.estimate.value < 0.4
