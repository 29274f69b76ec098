"""The modularity report on somebody's net: reads it, finds its modules, and measures them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.modularity.behaviour import behaviour, checked_rows
from recombine.modularity.finding import Finder, Modules, finder, is_long
from recombine.modularity.nonlinearities import nonlinearity
from recombine.modularity.nulls import FEW_SEARCHES, SEARCHES, newman_with_nulls
from recombine.modularity.reading import Arrays, read_activations, read_net
from recombine.modularity.result import ModularityReport
from recombine.probes.connectivity import (
    Chain,
    Labels,
    Live,
    Perceptron,
    in_block_mass,
    layer_spectra,
    layer_weights,
    live_units,
    unit_purity,
)


def modularity_report(
    weights: Any,
    *,
    modules: int | None = None,
    inputs: Modules = None,
    outputs: Modules = None,
    activations: Any = None,
    biases: Sequence[Any] | None = None,
    activation: Any = None,
    x: Any = None,
    y: Any = None,
    rows: Literal["inputs", "outputs"] = "inputs",
    permutations: int = 100,
    threshold: float = 0.01,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ModularityReport:
    """Does a net fall into modules? Live units, modules, weight within them, and how far that is from chance.

    If the modules of the inputs are known, every unit joins the module whose inputs reach it most. Otherwise units are
    clustered by the graph of all layers, into `modules` clusters or as many as give the largest modularity.

    **Arguments:**

    - `weights`: a matrix per layer, from input to output; or a mapping of arrays; or the path of an `.npz` or
        `.safetensors` file. In the latter two, arrays of two or four axes are weights and arrays of one axis biases,
        in the natural order of their names (`W1`, `b1`, ..., `W10`; `0.weight`, `0.bias`, ...). A convolution counts
        as one number per pair of channels.
    - `modules`: how many, if it is known.
    - `inputs`: the module number of every input, from 0; `"own"` if each is a module of its own.
    - `outputs`: the same for outputs; only together with `inputs`.
    - `activations`: activity `(rows, units)` of every hidden layer, or the path of such a file; it tells live units
        from dead ones better than weights alone.
    - `biases`, `activation`: what else the net needs to be run: `"relu"`, `"tanh"`, `"sigmoid"`, `"linear"`,
        `"leaky_relu:0.1"`, or a function. With them modules can be extracted.
    - `x`, `y`: data; with `x` also activity and derivatives are measured, with `y` also errors.
    - `rows`: `"inputs"` if matrices are `(inputs, outputs)`; `"outputs"` if `(outputs, inputs)`, as in PyTorch.
    - `permutations`: shuffled nets to compare with; `threshold`: a unit below this share of its layer's strongest is
        dead; `seed`: of the shuffling and of the clustering.
    - `progress`: called with the share that is done, if the search is long.

    ```python
    >>> import numpy as np
    >>> from scipy.linalg import block_diag
    >>> from recombine import modularity_report
    >>> rng = np.random.default_rng(0)
    >>> sizes = ((1, 6), (6, 6), (6, 1))
    >>> report = modularity_report([block_diag(*rng.normal(size=(3, *size))) for size in sizes])
    >>> report.modules, report.verdict.word, report.score.round(3).tolist()
    (3, 'modular', [1.0, 1.0, 1.0])

    ```

    **Reference:** Qian, Liang and Fiete 2025, arXiv 2512.13707; Newman 2006, PNAS 103:8577.
    """
    given = read_net(weights)
    if biases is not None:
        given = replace(given, biases=biases)
    with given.named():
        chain = layer_weights(given.weights, rows=rows)
        net = _net(given, chain, activation, asked=x is not None)
        x, y = _data(chain, net, x, y)
        activity = read_activations(activations, channels_first=rows == "outputs")
        if activity is None and net is not None and x is not None:
            activity = net.activities(x)
        live = live_units(chain, activity, threshold=threshold)
        if progress is not None and inputs is None and is_long(live):
            progress(0.0)
        how = finder(chain, live, modules=modules, inputs=inputs, outputs=outputs, seed=seed)
        labels = how.find(chain)
        live = tuple(labels_here >= 0 for labels_here in labels)  # without hidden units that no input reaches
        mass = in_block_mass(chain, labels)
        newman = newman_with_nulls(
            chain,
            live,
            labels,
            how.find,
            permutations=permutations,
            searches=_searches(how, permutations),
            seed=seed,
            progress=progress if how.is_long else None,
        )
    found = max(int(values.max()) for values in labels) + 1
    pure = unit_purity(chain, labels[0].tolist(), live=live)
    means = None if activity is None else [a.reshape(-1, a.shape[-1]).mean(axis=0) for a in activity]
    return ModularityReport(
        name=given.name,
        weights=chain,
        live=live,
        labels=labels,
        modules=found,
        source=how.source,
        mass=mass["mass"],
        chance=mass["chance"],
        score=mass["score"],
        newman=newman,
        purity=_over_units(pure, "purity"),
        participation=_over_units(pure, "participation"),
        collapsed=_spectra(chain, found, labels, live, collapsed=True),
        raw=_spectra(chain, found, labels, live, collapsed=False),
        behaviour=None if net is None or x is None else behaviour(net, labels, means, x, y),
        net=net,
        means=means,
        by_activity=activity is not None,
        threshold=threshold,
        convolutions=_convolutions(given),
    )


def _searches(how: Finder, permutations: int) -> int:
    if how.source == "inputs":
        return permutations
    return min(permutations, FEW_SEARCHES if how.is_long else SEARCHES)


def _net(given: Arrays, chain: Chain, activation: Any, *, asked: bool) -> Perceptron | None:
    """The net as something that runs, if biases and activation are there; `asked`: if it has to."""
    if activation is None:
        if asked:
            raise InputError("activation", None, "the net's activation, such as 'relu', to run it on data")
        return None
    function = nonlinearity(activation)
    if _convolutions(given):
        got = f"a net with {_convolutions(given)} convolutions"
        raise InputError("activation", got, "dense layers alone, or no activation: convolutions are not run")
    if given.biases is None:
        raise InputError("biases", None, "a vector for every layer (of zeros, if the net has none)")
    biases = [np.asarray(bias) for bias in given.biases]
    if any(bias.dtype.kind not in "fiu" or not np.isfinite(bias).all() for bias in biases):
        raise InputError("biases", "values that are not finite numbers", "finite numbers")
    return Perceptron(chain, tuple(bias.astype(np.float64) for bias in biases), function)


def _data(chain: Chain, net: Perceptron | None, x: Any, y: Any) -> tuple[Any, Any]:
    if x is None or net is None:
        if y is not None:
            raise InputError("x", None, "inputs, since there are targets y")
        return None, None
    x = checked_rows("x", x, chain[0].shape[0])
    return x, None if y is None else checked_rows("y", y, chain[-1].shape[1], len(x))


def _convolutions(given: Arrays) -> int:
    return sum(np.ndim(weight) == 4 for weight in given.weights)


def _over_units(
    pure: Sequence[dict[str, Float[np.ndarray, " units"]]], name: str
) -> Float[np.ndarray, " layers"]:
    """Means over the units that something reaches."""
    reached = [layer[name][np.isfinite(layer[name])] for layer in pure]
    return np.array([values.mean() if len(values) else np.nan for values in reached])


def _spectra(
    chain: Chain, modules: int, labels: Labels, live: Live, *, collapsed: bool
) -> Float[np.ndarray, "layers values"] | None:
    """Eigenvalues of every layer, or nothing if a layer has fewer live units than there are modules."""
    if modules > min(int(mask.sum()) for mask in live[1:]):
        return None
    return layer_spectra(chain, modules, collapsed=collapsed, communities=labels, live=live)
