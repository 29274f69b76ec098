"""Estimators: what they give, the steps of pipelines and the hidden layers of perceptrons."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from recombine import InputError, modularity_report
from recombine.models import ModelError, as_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
TWO = np.where(X[:, 0] > 0, "right", "left")
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def joined(model, layers=(), **how):
    chunks = list(model.run(layers, **how))
    outputs = np.concatenate([chunk.outputs for chunk in chunks])
    return outputs, {n: np.concatenate([chunk.activities[n] for chunk in chunks]) for n in layers}


@pytest.fixture(autouse=True)
def _few_steps():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Stochastic Optimizer")
        warnings.filterwarnings("ignore", message="lbfgs failed")
        yield


def test_classifiers_give_their_most_informative_output():
    model = as_model(LogisticRegression().fit(X, TWO), X)
    assert (model.framework, model.classes, model.output_shape) == ("sklearn", ("left", "right"), (2,))
    assert model.notes == ["outputs are those of predict_proba"]
    decided = as_model(RidgeClassifier().fit(X, THREE), X)
    assert (decided.classes, decided.output_shape) == ((0, 1, 2), ())
    assert decided.notes == ["outputs are those of predict"]
    regressor = Ridge().fit(X, X[:, :2])
    result = as_model(regressor, X)
    assert (result.classes, result.output_shape) == (None, (2,))
    np.testing.assert_allclose(joined(result, batch=7)[0], regressor.predict(X))
    assert result.weights() is None
    assert "not a multi-layer perceptron" in result.notes[-1]
    assert as_model(KMeans(2, n_init=1).fit(X), X).output_shape == ()


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
def test_hidden_layers_end_in_the_outputs(activation):
    net = MLPClassifier((6, 5), activation=activation, max_iter=5, random_state=0).fit(X, THREE)
    model = as_model(net, X)
    assert model.layers == ("hidden0", "hidden1")
    outputs, activity = joined(model, model.layers, batch=16)
    logits = activity["hidden1"] @ net.coefs_[2] + net.intercepts_[2]
    np.testing.assert_allclose(outputs, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    weights = model.weights()
    assert [w.shape for w in weights.values()] == [(3, 6), (6, 5), (5, 3)]
    assert modularity_report(list(weights.values()), permutations=5).weights[0].shape == (3, 6)


def test_pipelines():
    two = make_pipeline(StandardScaler(), "passthrough", MLPClassifier((4,), max_iter=5, random_state=0)).fit(
        X, TWO
    )
    model = as_model(two, X)
    assert model.layers == ("standardscaler", "hidden0")
    outputs, activity = joined(model, ["hidden0", "standardscaler"], batch=9)
    np.testing.assert_allclose(activity["standardscaler"], two[0].transform(X))
    np.testing.assert_allclose(outputs, two.predict_proba(X))
    assert list(model.weights()) == ["hidden0", "output"]
    scaled = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=4, max_iter=5))
    search = GridSearchCV(scaled, {}, cv=2).fit(X, X[:, 0])
    assert as_model(search, X).layers == ("standardscaler", "hidden0")
    with pytest.raises(InputError, match="did you mean hidden0"):
        as_model(two, X, layers=["hiden0"])


def test_data_frames_and_sparse_steps():
    frame = pl.DataFrame({"a": ["x", "y", "z"] * 5, "b": list("pqrst") * 3})
    target = np.arange(15) % 3
    fitted = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(frame, target)
    model = as_model(fitted, frame, layers=["onehotencoder"])
    outputs, activity = joined(model, model.layers, batch=4)
    np.testing.assert_allclose(outputs, fitted.predict_proba(frame))
    assert activity["onehotencoder"].shape == (15, 8)
    torch = pytest.importorskip("torch")
    assert as_model(LogisticRegression().fit(X, TWO), torch.tensor(X)).output_shape == (2,)


def test_several_outputs_have_their_own_classes():
    forest = RandomForestClassifier(3, random_state=0).fit(X, np.stack([THREE, X[:, 1] > 0], axis=1))
    first, second = as_model(forest, X), as_model(forest, X, output=1)
    assert (first.output_shape, first.classes) == ((3,), (0, 1, 2))
    assert "0 is read as its output" in first.notes[-1]
    assert (second.output_shape, second.classes) == ((2,), (0, 1))


def test_estimators_that_cannot_be_used():
    with pytest.raises(
        InputError, match="a Ridge that is not fitted', expected a fitted one: call fit first"
    ):
        as_model(Ridge(), X)
    with pytest.raises(InputError, match="the class Ridge"):
        as_model(Ridge, X)
    with pytest.raises(InputError, match="2 arrays"):
        as_model(Ridge().fit(X, TWO == "left"), (X, X))
    with pytest.raises(ModelError, match="ValueError: X has 2 features") as caught:
        as_model(Ridge().fit(X, X[:, 0]), X[:, :2])
    assert "sklearn" in caught.value.trace
