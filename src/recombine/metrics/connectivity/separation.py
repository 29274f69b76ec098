"""Separating a net into its modules: pruning what joins them, and the modules as separate nets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.metrics.connectivity.graph import check_labels
from recombine.metrics.connectivity.layered import Chain

Activation = Callable[[np.ndarray], np.ndarray]


def leaky_relu(x: np.ndarray, slope: float = 0.1) -> np.ndarray:
    """`x` above zero and `slope * x` below."""
    return np.where(x >= 0, x, slope * x)


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A plain net in NumPy: weights `(before, after)`, biases, and one activation between layers.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import Perceptron
    >>> net = Perceptron((np.ones((2, 3)), np.ones((3, 1))), (np.zeros(3), np.zeros(1)), np.tanh)
    >>> net(np.zeros((4, 2))).shape, net.activities(np.zeros((4, 2)))[0].shape
    ((4, 1), (4, 3))

    ```
    """

    weights: Chain
    biases: tuple[Float[np.ndarray, " units"], ...]
    activation: Activation = leaky_relu

    def __post_init__(self) -> None:
        sizes = [matrix.shape[1] for matrix in self.weights]
        if [np.shape(bias) for bias in self.biases] != [(size,) for size in sizes]:
            raise InputError(
                "biases", [np.shape(bias) for bias in self.biases], f"vectors of {sizes} numbers"
            )

    def activities(self, x: Any) -> list[Float[np.ndarray, "rows units"]]:
        """The activity of every hidden layer."""
        return self._run(x)[:-1]

    def __call__(self, x: Any) -> Float[np.ndarray, "rows outputs"]:
        """The outputs."""
        return self._run(x)[-1]

    def _run(self, x: Any) -> list[np.ndarray]:
        activities, values = [], np.asarray(x, dtype=np.float64)
        for layer, (matrix, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ matrix + bias
            if layer < len(self.weights) - 1:
                values = self.activation(values)
            activities.append(values)
        return activities


def block_pruned(
    weights: Chain,
    labels: Sequence[Int[np.ndarray, " units"]],
    *,
    biases: Sequence[Any] | None = None,
    means: Sequence[Any] | None = None,
) -> tuple[Chain, tuple[Float[np.ndarray, " units"], ...]]:
    """Weights with every connection between modules set to zero.

    A dead unit (label -1) loses its connections, too. If its mean activity is known, its mean contribution goes into
    the biases of the next layer: a unit that never varies is a bias.

    **Arguments:**

    - `biases`: of every layer; by default zero.
    - `means`: mean activity of the units of every hidden layer.

    **Returns:**

    The pruned weights, and the biases with the contributions of dead units.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import block_pruned
    >>> block_pruned((np.ones((2, 2)),), ([0, 1], [0, 1]))[0][0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    ```
    """
    labels = check_labels(weights, labels)
    shifts = (
        [np.zeros(m.shape[1]) for m in weights] if biases is None else [np.array(b, float) for b in biases]
    )
    kept = []
    for layer, matrix in enumerate(weights):
        before, after = labels[layer], labels[layer + 1]
        kept.append(matrix * ((before[:, None] == after) & (before[:, None] >= 0)))
        if means is not None and layer:
            dead = before < 0
            shifts[layer] = shifts[layer] + np.asarray(means[layer - 1], dtype=float)[dead] @ matrix[dead]
    return tuple(kept), tuple(shifts)


@dataclass(frozen=True, eq=False)
class Module:
    """One module of a net as a small net: which inputs it reads, which outputs it writes, and the net between."""

    number: int
    inputs: Int[np.ndarray, " inputs"]
    outputs: Int[np.ndarray, " outputs"]
    units: tuple[int, ...]
    net: Perceptron

    def __call__(self, x: Any) -> Float[np.ndarray, "rows outputs"]:
        """The module's outputs from the whole net's inputs."""
        return self.net(np.asarray(x)[:, self.inputs])

    def __repr__(self) -> str:
        sizes = "-".join(map(str, (len(self.inputs), *self.units, len(self.outputs))))
        return f"Module({self.number}: {sizes})"


def extract_modules(
    net: Perceptron, labels: Sequence[Int[np.ndarray, " units"]], *, means: Sequence[Any] | None = None
) -> list[Module]:
    """The modules of a net, each with its own inputs, outputs and live units. Connections between them are dropped.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import Perceptron, extract_modules
    >>> net = Perceptron((np.eye(2), np.eye(2)), (np.zeros(2), np.zeros(2)), np.tanh)
    >>> modules = extract_modules(net, (np.arange(2), np.arange(2), np.arange(2)))
    >>> modules
    [Module(0: 1-1-1), Module(1: 1-1-1)]
    >>> x = np.ones((3, 2))
    >>> bool(np.allclose(modules[1](x)[:, 0], net(x)[:, 1]))
    True

    ```
    """
    labels = check_labels(net.weights, labels)
    weights, biases = block_pruned(net.weights, labels, biases=net.biases, means=means)
    modules = []
    for number in range(max(int(values.max()) for values in labels) + 1):
        chosen = [np.flatnonzero(values == number) for values in labels]
        own = tuple(m[np.ix_(a, b)] for m, a, b in zip(weights, chosen[:-1], chosen[1:], strict=True))
        shifts = tuple(bias[units] for bias, units in zip(biases, chosen[1:], strict=True))
        small = Perceptron(own, shifts, net.activation)
        modules.append(Module(number, chosen[0], chosen[-1], tuple(len(c) for c in chosen[1:-1]), small))
    return modules


def joined(modules: Sequence[Module], x: Any, outputs: int) -> Float[np.ndarray, "rows outputs"]:
    """The outputs of separate modules in one array; outputs that no module writes are 0.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import Perceptron, extract_modules, joined
    >>> net = Perceptron((np.diag([1.0, 2.0]),), (np.zeros(2),))
    >>> modules = extract_modules(net, (np.arange(2), np.arange(2)))
    >>> joined(modules, np.ones((1, 2)), 2).tolist()
    [[1.0, 2.0]]

    ```
    """
    rows = np.asarray(x)
    predictions = np.zeros((len(rows), outputs))
    for module in modules:
        if len(module.outputs):
            predictions[:, module.outputs] = module(rows)
    return predictions


def weight_threshold(matrix: Any) -> float | None:
    """The published pruning threshold: between two normal distributions fitted to log10|w|.

    A histogram over [-5, 0] is fitted by the sum of two normal densities; the threshold is the mean of their centres,
    each weighted by one over its width. The fit is fragile: `None` if it does not converge or lands outside
    the 5th to 95th percentile.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import weight_threshold
    >>> rng = np.random.default_rng(0)
    >>> sizes = 10 ** np.concatenate([rng.normal(-3, 0.3, 750), rng.normal(-0.6, 0.2, 250)])
    >>> bool(0.003 < weight_threshold(sizes) < 0.1)
    True

    ```
    """
    from scipy.optimize import OptimizeWarning, curve_fit

    size = np.abs(np.asarray(matrix, dtype=np.float64)).ravel()
    logs = np.log10(size[size > 0])
    if len(logs) < 10:
        return None
    edges = np.linspace(-5, 0, 50)
    if not ((logs >= edges[0]) & (logs <= edges[-1])).any():
        return None
    density, _ = np.histogram(logs, bins=edges, density=True)

    def mixture(x: np.ndarray, m1: float, s1: float, m2: float, s2: float, share: float) -> np.ndarray:
        def normal(m: float, s: float) -> np.ndarray:
            return np.exp(-(((x - m) / s) ** 2) / 2) / (abs(s) * np.sqrt(2 * np.pi))

        return share * normal(m1, s1) + (1 - share) * normal(m2, s2)

    start = (-2.5, 1.5, -0.5, 1.5, 0.5)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", OptimizeWarning)  # about error bars, which are not used
        try:
            fitted, _ = curve_fit(mixture, (edges[1:] + edges[:-1]) / 2, density, p0=start, maxfev=5000)
        except RuntimeError:
            return None
        m1, s1, m2, s2, _ = fitted
        near = (m1 / abs(s1) + m2 / abs(s2)) / (1 / abs(s1) + 1 / abs(s2))
    low, high = np.percentile(logs, [5, 95])
    return float(10**near) if low <= near <= high else None
