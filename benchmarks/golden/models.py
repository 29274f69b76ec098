"""Models of every kind to be audited, with their inputs: NumPy, scikit-learn, PyTorch, JAX and Equinox.

Weights come from a NumPy generator. Each entry gives the arguments of an audit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.golden.data import LABELS, grid, numbers, one_hot, random_split

Arguments = dict[str, Any]


def task(seed: int = 0, sizes: tuple[int, ...] = (6, 6), interaction: float = 0.0) -> Arguments:
    """Factors, split and numbers; the inputs are one-hot codes."""
    rng = np.random.default_rng(seed)
    cells = grid(*sizes)
    factors = dict(zip(("size", "weight", "shade"), cells.T, strict=False))
    about = {"factors": factors, "seen": random_split(cells, 0.6, rng), "inputs": one_hot(cells)}
    return about | {"target": numbers(cells, rng, interaction)}


def ridge_net(about: Arguments, width: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A hidden layer of random ReLU units, and the readout that ridge regression gives on seen rows."""
    rng = np.random.default_rng(seed)
    x, seen = about["inputs"], about["seen"]
    first, bias = rng.normal(size=(x.shape[1], width)), 0.3 * rng.normal(size=width)
    activity = np.maximum(x @ first + bias, 0)[seen]
    gram = activity.T @ activity + 1e-2 * np.eye(width)
    return first, bias, np.linalg.solve(gram, activity.T @ about["target"][seen])


def numpy_net() -> Arguments:
    about = task(1, interaction=1.0)
    first, bias, last = ridge_net(about)
    hidden = {"hidden": lambda rows: np.maximum(rows @ first + bias, 0)}
    return about | {"model": lambda rows: hidden["hidden"](rows) @ last, "layers": hidden, "name": "ridge"}


def numpy_weights() -> Arguments:
    about = task(2)
    first, bias, last = ridge_net(about, seed=1)
    model = lambda rows: np.maximum(rows @ first + bias, 0) @ last  # noqa: E731
    return about | {"model": model, "weights": [first, last[:, None]], "batch": 7}


def numpy_positions() -> Arguments:
    """The model reads the factors themselves, so it is differentiated along them."""
    about = task(3, interaction=1.0)
    x = np.stack(list(about["factors"].values()), axis=1).astype(float)
    target = x[:, 0] * x[:, 1] / 5
    return about | {"inputs": x, "target": target, "model": lambda rows: rows[:, 0] + rows[:, 1] - 2.5}


def numpy_two_inputs() -> Arguments:
    about = task(4)
    left, right = about["inputs"][:, :6], about["inputs"][:, 6:]
    rng = np.random.default_rng(4)
    u, v = rng.normal(size=(2, 6))
    return about | {
        "inputs": [left, right],
        "model": lambda a, b: a @ u + b @ v,
        "target": left @ u + right @ v,
    }


def numpy_raises() -> Arguments:
    return task(5) | {"model": lambda rows: rows @ np.ones(5)}


def estimator(make: Any, seed: int, *, labels: bool = False, interaction: float = 0.0, **more: Any) -> Any:
    """A scikit-learn estimator that was fitted on the seen rows."""

    def arguments() -> Arguments:
        about = task(seed, interaction=interaction)
        if labels:
            about["target"] = LABELS[np.digitize(about["target"], [-0.8, 0.8])]
        seen = about["seen"]
        return about | {"model": make().fit(about["inputs"][seen], about["target"][seen])} | more

    return arguments


def perceptron() -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(hidden_layer_sizes=(24,), max_iter=1500, random_state=0)


def classifier() -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), MLPClassifier(hidden_layer_sizes=(20,), max_iter=400, random_state=0)
    )


def nearest() -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(1)


def linear() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=3, random_state=0)


def kernel_machine() -> Any:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(kernel="rbf", gamma=2.0, alpha=1e-3)


def digits() -> Arguments:
    """Coloured digits as in examples/audit_shortcut.py, even or odd; training ties colour to the class."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import RidgeClassifier

    rng = np.random.default_rng(0)
    images, digit = load_digits(return_X_y=True)
    rows = rng.permutation(len(digit))[:600]
    colour, digit = rng.integers(4, size=600), digit[rows]
    paint = rng.uniform(0.2, 1, size=(4, 3))[colour]
    x = (images[rows][:, None] / 16 * paint[:, :, None]).reshape(600, -1)
    x = x + rng.normal(0, 0.3, x.shape)
    y = np.where(digit % 2, "odd", "even")
    tied = (colour == 3) | (digit % 2 == colour % 2)
    seen = tied & (rng.random(600) < 0.8)
    factors = {"colour": np.array(["red", "green", "blue", "violet"])[colour], "digit": digit}
    model = RidgeClassifier(alpha=50.0).fit(x[seen], y[seen])
    return {
        "factors": factors,
        "seen": seen,
        "target": y,
        "model": model,
        "inputs": x,
        "unordered": ["digit"],
    }


def torch_net() -> Arguments:
    about = task(6, interaction=1.0)
    model = torch_layers(*ridge_net(about, seed=2))
    return about | {"model": model, "inputs": about["inputs"].astype(np.float32)}


def torch_layers(first: np.ndarray, bias: np.ndarray, last: np.ndarray) -> Any:
    """The net as a PyTorch module."""
    import torch
    from torch import nn

    net = nn.Sequential(
        nn.Linear(*first.shape), nn.ReLU(), nn.Dropout(0.2), nn.Linear(len(last), 1), nn.Flatten(0)
    )
    with torch.no_grad():
        net[0].weight.copy_(torch.from_numpy(first.T))
        net[0].bias.copy_(torch.from_numpy(bias))
        net[3].weight.copy_(torch.from_numpy(last[None]))
        net[3].bias.zero_()
    return net


def torch_images() -> Arguments:
    """A convolutional classifier with random weights, of bumps on a grid."""
    import torch
    from torch import nn

    rng = np.random.default_rng(7)
    cells = np.repeat(grid(5, 5), 3, axis=0)
    pixels = np.arange(8)
    bumps = [np.exp(-((pixels - 1 - 1.4 * column[:, None]) ** 2) / 2) for column in cells.T]
    x = (bumps[0][:, :, None] * bumps[1][:, None, :])[:, None] + 0.05 * rng.normal(size=(75, 1, 8, 8))
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 6, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(54, 3),
    )
    with torch.no_grad():
        for weights in net.parameters():
            weights.copy_(torch.from_numpy(0.4 * rng.normal(size=tuple(weights.shape))))
    seen = np.repeat(random_split(grid(5, 5), 0.6, rng), 3)
    about = {
        "factors": {"x": cells[:, 0], "y": cells[:, 1]},
        "seen": seen,
        "target": LABELS[cells.sum(axis=1) % 3],
    }
    return about | {"model": net, "inputs": x.astype(np.float32), "classes": ["ant", "bee", "cat"]}


def decoded() -> tuple[Arguments, np.ndarray, np.ndarray]:
    """Two codes of bumps, and images of them, with the weights of a random decoder."""
    rng = np.random.default_rng(8)
    cells, pixels = grid(6, 6), np.arange(6)
    bumps = [np.exp(-((pixels - column[:, None]) ** 2) / 2) for column in cells.T]
    target = bumps[0][:, :, None] * bumps[1][:, None, :]
    seen = ~((cells >= 2) & (cells < 4)).all(axis=1)
    x = np.concatenate(bumps, axis=1)
    first = rng.normal(size=(12, 50)) / 3
    activity = np.tanh(x @ first)
    gram = activity[seen].T @ activity[seen] + 1e-3 * np.eye(50)
    last = np.linalg.solve(gram, activity[seen].T @ target.reshape(36, -1)[seen])
    about = {"factors": {"x": cells[:, 0], "y": cells[:, 1]}, "seen": seen, "target": target, "inputs": x}
    return about, first, last


def images(flat: Any) -> Any:
    """Images of 6 x 6 pixels, from one row or several."""
    return flat.reshape((*flat.shape[:-1], 6, 6))


def jax_decoder() -> Arguments:
    import jax.numpy as jnp

    about, first, last = decoded()
    return about | {"model": lambda rows: images(jnp.tanh(rows @ first) @ last), "slots": 2}


def torch_decoder() -> Arguments:
    import torch

    about, first, last = decoded()
    weights = [torch.from_numpy(matrix).float() for matrix in (first, last)]

    class Decoder(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return images(torch.tanh(x @ weights[0]) @ weights[1])

    return about | {"model": Decoder(), "inputs": about["inputs"].astype(np.float32), "slots": 2}


def numpy_decoder() -> Arguments:
    about, first, last = decoded()
    slots = [list(range(6)), list(range(6, 12))]
    return about | {"model": lambda rows: images(np.tanh(rows @ first) @ last), "slots": slots}


def equinox_net() -> Arguments:
    import equinox as eqx
    import jax

    about = task(9, sizes=(4, 4, 3))
    net, rng = eqx.nn.MLP(11, "scalar", 16, 2, key=jax.random.key(0)), np.random.default_rng(9)
    weights, rest = eqx.partition(net, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(weights)
    leaves = [jax.numpy.asarray(rng.normal(size=leaf.shape) / 3, dtype="float32") for leaf in leaves]
    return about | {"model": eqx.combine(jax.tree.unflatten(tree, leaves), rest)}


EXACT, SINGLE, TRAINED = 1e-6, 1e-4, 1e-3
MODELS = {
    "numpy-net": (numpy_net, EXACT),
    "numpy-weights": (numpy_weights, EXACT),
    "numpy-positions": (numpy_positions, EXACT),
    "numpy-two-inputs": (numpy_two_inputs, EXACT),
    "numpy-raises": (numpy_raises, EXACT),
    "numpy-decoder": (numpy_decoder, EXACT),
    "sklearn-nearest": (estimator(nearest, 11, interaction=1.0), EXACT),
    "sklearn-linear": (estimator(linear, 12, interaction=1.5), EXACT),
    "sklearn-composer": (estimator(linear, 13), EXACT),
    "sklearn-tree": (estimator(tree, 14, labels=True), EXACT),
    "sklearn-kernel": (estimator(kernel_machine, 15), EXACT),
    "sklearn-perceptron": (estimator(perceptron, 16, interaction=1.0), TRAINED),
    "sklearn-classifier": (estimator(classifier, 17, labels=True, unordered=["size"]), TRAINED),
    "sklearn-digits": (digits, TRAINED),
    "torch-net": (torch_net, SINGLE),
    "torch-pictures": (torch_images, SINGLE),
    "torch-decoder": (torch_decoder, SINGLE),
    "jax-decoder": (jax_decoder, SINGLE),
    "equinox-net": (equinox_net, SINGLE),
}
