"""Known answers: nets built of modules, nets without, and everything that can be asked about them."""

import subprocess
import sys

import numpy as np
import pytest

from recombine import InputError, modularity_report


def test_modules_are_found_in_weights_alone(blocks):
    report = modularity_report(blocks(4))
    assert (report.modules, report.source) == (4, "chosen")
    assert report.verdict.word == "modular"
    assert report.mass == pytest.approx(1)
    assert report.sizes.tolist() == [[1] * 4, [5] * 4, [5] * 4, [1] * 4]
    assert report.newman.value == pytest.approx(report.newman.largest)
    assert report.newman.searched.z > 3
    assert report.labels[0].tolist() == report.labels[-1].tolist() == [0, 1, 2, 3]  # numbered by their inputs


def test_known_inputs_give_the_same_modules(blocks):
    weights = blocks(4, between=0.01)
    known, searched = (
        modularity_report(weights, inputs="own", outputs="own"),
        modularity_report(weights, modules=4),
    )
    assert (known.source, searched.source) == ("inputs", "number")
    for one, other in zip(known.labels, searched.labels, strict=True):
        assert (one == other).all()
    assert known.mass == pytest.approx(searched.mass)
    assert known.verdict.word == "modular"


def test_inputs_can_share_a_module(blocks):
    report = modularity_report(blocks(4), inputs=[0, 0, 1, 1], outputs=[0, 0, 1, 1])
    assert report.modules == 2
    assert report.sizes[1].tolist() == [10, 10]
    assert report.chance[0] == pytest.approx(0.5)
    assert report.verdict.word == "modular"


def test_random_weights_are_mixed(dense):
    for settings in ({"inputs": "own", "outputs": "own"}, {"modules": 4}, {}):
        report = modularity_report(dense(), **settings)
        assert report.verdict.word == "mixed"
        assert abs(report.newman.searched.z) < 4  # clustering finds modules in any weights
        assert report.newman.kept.z > 4  # which the usual comparison does not see


def test_the_first_layer_has_chance_and_score_as_defined(blocks):
    report = modularity_report(blocks(3, between=0.3), inputs="own")
    assert report.score == pytest.approx((report.mass - report.chance) / (1 - report.chance))
    assert report.chance[0] == pytest.approx(1 / 3, abs=0.01)
    assert 0 < report.participation[0] < report.participation[-1]
    assert report.purity[0] > report.purity[-1] > 1 / 3


def test_spectra_of_modules_have_k_zeros(blocks):
    report = modularity_report(blocks(3), inputs="own")
    assert report.collapsed.shape == report.raw.shape == (3, 5)
    assert report.collapsed[:, :3] == pytest.approx(0, abs=1e-3)
    assert report.collapsed[0, 3] == pytest.approx(1, abs=1e-3)
    assert np.isnan(report.collapsed[-1, 3:]).all()  # three outputs have three eigenvalues


def test_outputs_first_is_the_transpose(blocks):
    weights = blocks(3, between=0.1)
    report = modularity_report([matrix.T for matrix in weights], orientation="outputs-first", inputs="own")
    assert report.mass == pytest.approx(modularity_report(weights, inputs="own").mass)


def test_activity_decides_who_is_live(blocks):
    weights = blocks(2, units=8, depth=1)
    activity = np.random.default_rng(0).normal(size=(50, 16))
    activity[:, :3] = 7.0  # never moves
    report = modularity_report(weights, inputs="own", activations=[activity])
    assert report.by_activity
    assert report.live[1].tolist() == [False] * 3 + [True] * 13
    assert modularity_report(weights, inputs="own", activations=activity).sizes.sum() == 2 + 13 + 2


def test_activity_of_images_has_the_frameworks_channel_axis():
    rng = np.random.default_rng(0)
    kernel, matrix, maps = (
        rng.normal(size=(6, 3, 3, 3)),
        rng.normal(size=(2, 6)),
        rng.normal(size=(5, 6, 4, 4)),
    )
    maps[:, 2] = 0.0
    report = modularity_report([kernel, matrix], orientation="outputs-first", modules=2, activations=[maps])
    assert report.live[1].tolist() == [True, True, False, True, True, True]
    assert report.convolutions == 1
    assert "1 convolution, counted by channels" in str(report)


def test_units_that_no_input_reaches_are_dead(blocks):
    weights = blocks(2)
    weights[0][:, 5] = 0.0
    activity = np.random.default_rng(0).normal(size=(9, 10))
    report = modularity_report(weights, inputs="own", activations=[activity] * 2)
    assert not report.live[1][5]
    assert report.labels[1][5] == -1


def test_equal_weights_have_no_modules():
    report = modularity_report([np.ones((3, 4)), np.ones((4, 2))])
    assert report.modules == 1
    assert report.verdict.word == "mixed"
    assert report.verdict.layer is None
    assert np.isnan(report.score).all()
    assert report.to_dict()["newman"]["searched"]["z"] is None


def test_the_same_seed_gives_the_same_report(dense):
    assert modularity_report(dense((3, 9, 3))).to_dict() == modularity_report(dense((3, 9, 3))).to_dict()


def test_long_searches_report_progress(dense, monkeypatch):
    from recombine.modularity import module_search

    shares = []
    modularity_report(dense(), modules=3, progress=shares.append)
    assert shares == []  # a short search says nothing
    monkeypatch.setattr(module_search, "QUICK_UNITS", 10)
    modularity_report(dense(), modules=3, progress=shares.append)
    assert shares == [i / 10 for i in range(1, 11)]


BAD = {
    "modules, one": ({"modules": 1}, "modules: got 1, expected 2 or more"),
    "modules, many": ({"modules": 90}, "modules: got 90, expected a number from 2 to 48, the live units"),
    "modules, other": ({"modules": 3, "inputs": "own"}, "modules: got 3, expected 4, as inputs says"),
    "inputs, few": ({"inputs": [0, 1]}, r"inputs: got \[0, 1\], expected a module number, 0 or more, for each of 4"),
    "inputs, gap": ({"inputs": [0, 2, 2, 0]}, r"inputs: got \[0, 2, 2, 0\], expected modules from 0 on without gaps"),
    "inputs, word": ({"inputs": "mine"}, "inputs: got 'mine', expected module numbers, or 'own'"),
    "inputs, fractions": ({"inputs": [0.5, 1, 2, 3]}, "inputs: got"),
    "outputs alone": ({"outputs": "own"}, "outputs: got 'own', expected the modules of inputs, too"),
    "outputs, beyond": ({"inputs": "own", "outputs": [0, 1, 2, 4]}, "outputs: got .* from 0 to 3"),
    "orientation": ({"orientation": "columns"}, "orientation: got 'columns'"),
    "threshold": ({"threshold": 1.5}, "threshold: got 1.5"),
    "permutations": ({"permutations": 1}, "permutations: got 1"),
    "activations, few": ({"activations": [np.ones((3, 20))]}, "activations: got '1 arrays'"),
    "activations, shape": ({"activations": [np.ones((3, 5))] * 2}, r"activations\[0\]: got 'shape \(3, 5\)'"),
    "activations, words": ({"activations": [np.array(["a"])] * 2}, r"activations\[0\]: got 'str"),
    "activation": ({"activation": "swish"}, "activation: got 'swish', expected a function, or one of linear, relu"),
    "slope": ({"activation": "leaky_relu"}, "activation: got 'leaky_relu', expected .*leaky_relu:SLOPE"),
    "no biases": ({"activation": "relu"}, "biases: got None, expected a vector for every layer"),
    "biases, shape": ({"activation": "relu", "biases": [np.ones(2)] * 3}, "biases: got"),
    "x alone": ({"x": np.ones((3, 4))}, "activation: got None, expected the net's activation"),
    "biases, number": ({"biases": 3}, "biases: got 'int', expected a list with a vector for every layer"),
    "biases, ragged": ({"biases": [[[1], [1, 2]]] * 3, "activation": "relu"}, r"biases\[0\]: got"),
    "inputs, ragged": ({"inputs": [[1], [1, 2]]}, "inputs: got"),
    "inputs, number": ({"inputs": 4}, "inputs: got 4, expected a module number"),
    "x, ragged": ({"x": [[1], [1, 2]], "activation": "relu"}, "x: got"),
    "name": ({"name": 3}, "name: got 3, expected a text"),
    "y alone": ({"y": np.ones((3, 4))}, "x: got None, expected inputs"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_refused(dense, name):
    settings, message = BAD[name]
    with pytest.raises(InputError, match=message):
        modularity_report(dense(), **settings)


def test_large_searches_are_refused(dense, monkeypatch):
    from recombine.modularity import module_search

    monkeypatch.setattr(module_search, "MAX_UNITS", 40)
    with pytest.raises(InputError, match="weights: got '48 live units', expected at most 40"):
        modularity_report(dense())
    assert modularity_report(dense(), inputs="own").modules == 4


def test_a_report_needs_no_jax():
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from recombine import modularity_report\n"
        "report = modularity_report([np.eye(3), np.eye(3)])\n"
        "assert str(report) and report.to_dict()\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
