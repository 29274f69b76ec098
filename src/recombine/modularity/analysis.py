"""`modularity_report`: reads a net, finds its modules and measures them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.data.argument_types import check_choice, check_count, check_progress, is_number, shown
from recombine.data.arrays import as_array
from recombine.data.nets import read_activations
from recombine.errors import InputError
from recombine.metrics.connectivity import (
    ORIENTATIONS,
    Chain,
    Labels,
    Live,
    Orientation,
    Perceptron,
    in_block_mass,
    layer_spectra,
    live_units,
    unit_purity,
)
from recombine.modularity.module_search import Modules, ModuleSearch, module_search
from recombine.modularity.nulls import FEW_SEARCHES, SEARCHES, disconnection_p_value, newman_with_nulls
from recombine.modularity.numpy_net import checked_rows, numpy_net
from recombine.modularity.orientation import oriented_weights, read_weights
from recombine.modularity.result import ModularityReport
from recombine.modularity.separability import separability


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
    orientation: Orientation | None = None,
    name: str | None = None,
    permutations: int = 100,
    threshold: float = 0.01,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ModularityReport:
    """Does a net fall into modules? Live units, modules, the weight within them, and how far that is from chance.

    If the modules of the inputs are known, every unit joins the module whose inputs reach it most. Otherwise, parts of
    the net without any connection between them are modules; a net in one piece is clustered by the graph of all layers,
    into `modules` clusters or as many as give the largest modularity.

    **Arguments:**

    - `weights`: a matrix per layer, from input to output; or a mapping of arrays; or the path of an `.npz` or
        `.safetensors` file; or a PyTorch or Equinox module. In mappings and files, arrays of two or four axes are
        weights and arrays of one axis biases, in the natural order of their names (`W1`, `b1`, ..., `W10`; `0.weight`,
        `0.bias`, ...). A convolution counts as one number per pair of channels.
    - `modules`: how many, if that is known.
    - `inputs`: the module number of every input, from 0; `"own"` if each is a separate module.
    - `outputs`: the same for outputs; only together with `inputs`.
    - `activations`: activity `(rows, units)` of every hidden layer, or the path of such a file; it separates live units
        from dead ones better than weights alone.
    - `biases`, `activation`: what else is needed to run the net: `"relu"`, `"tanh"`, `"sigmoid"`, `"linear"`,
        `"leaky_relu:0.1"`, or a function. With them, modules can be extracted.
    - `x`, `y`: data; with `x`, activity and derivatives are measured, with `y` errors, too.
    - `orientation`: `"inputs-first"` if matrices are `(inputs, outputs)`; `"outputs-first"` if `(outputs, inputs)`, as
        in PyTorch. By default it is inferred from the model, from names such as `fc1.weight`, from biases or from the
        shapes of the neighbours. Where all of these fit both ways, inputs come first, and warning M13 says so.
    - `name`: what the report calls the net.
    - `permutations`: shuffled nets to compare with; `threshold`: below this share of the strongest unit, a unit is
        dead (see `recombine.metrics.connectivity.live_units`); `seed`: of the shuffling and of the clustering.
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
    if orientation is not None:
        check_choice("orientation", orientation, ORIENTATIONS)
    check_count(
        "permutations", permutations, "a whole number of shuffled nets, 1 or more", minimum=1, maximum=100_000
    )
    check_count("seed", seed, "a whole number of at least 0")
    if not is_number(threshold):
        raise InputError("threshold", shown(threshold), "a share from 0 to below 1")
    check_progress(progress, 0.0)
    if name is not None and not isinstance(name, str):
        raise InputError("name", shown(name), "a text, or nothing")
    arrays, stated = read_weights(weights)
    if biases is not None:
        if not isinstance(biases, list | tuple):
            raise InputError("biases", type(biases).__name__, "a list with a vector for every layer")
        vectors = [as_array(f"biases[{number}]", bias) for number, bias in enumerate(biases)]
        arrays = replace(arrays, biases=vectors)
    convolutions = sum(np.ndim(weight) == 4 for weight in arrays.weights)
    with arrays.named_errors():
        chain, orientation, orientation_source = oriented_weights(
            arrays,
            orientation or stated,
            inputs=_columns("inputs", inputs, x),
            outputs=_columns("outputs", outputs, y),
        )
        net = numpy_net(chain, arrays.biases, activation, convolutions=convolutions, required=x is not None)
        x, y = _data(chain, net, x, y)
        activity = read_activations(activations, channels_first=orientation == "outputs-first")
        if activity is None and net is not None and x is not None:
            activity = net.activities(x)
        live = live_units(chain, activity, threshold=threshold)
        search = module_search(chain, live, modules=modules, inputs=inputs, outputs=outputs, seed=seed)
        labels = search.find(chain)
        live = tuple(
            layer_labels >= 0 for layer_labels in labels
        )  # without hidden units that no input reaches
        mass = in_block_mass(chain, labels)
        newman = newman_with_nulls(
            chain,
            live,
            labels,
            search.find,
            permutations=permutations,
            searches=_searches(search, permutations),
            seed=seed,
            progress=progress if search.is_long else None,
        )
    number = max(int(values.max()) for values in labels) + 1
    purity = unit_purity(chain, labels[0].tolist(), live=live)
    means = None if activity is None else [a.reshape(-1, a.shape[-1]).mean(axis=0) for a in activity]
    return ModularityReport(
        name=arrays.name if name is None else name,
        weights=chain,
        live=live,
        labels=labels,
        modules=number,
        source=search.source,
        mass=mass["mass"],
        chance=mass["chance"],
        score=mass["score"],
        newman=newman,
        disconnection_p=disconnection_p_value(chain, live, permutations=permutations, seed=seed),
        purity=_mean_over_units(purity, "purity"),
        participation=_mean_over_units(purity, "participation"),
        collapsed=_spectra(chain, number, labels, live, collapsed=True),
        raw=_spectra(chain, number, labels, live, collapsed=False),
        separability=None if net is None or x is None else separability(net, labels, means, x, y),
        net=net,
        means=means,
        by_activity=activity is not None,
        threshold=threshold,
        convolutions=convolutions,
        orientation=orientation,
        orientation_source=orientation_source,
    )


def _columns(field: str, modules: Modules, data: Any) -> int | None:
    """The number of inputs or outputs, from their modules or from data."""
    if modules is not None and not isinstance(modules, str):
        return as_array(field, modules).size
    array = None if data is None else as_array("x" if field == "inputs" else "y", data)
    return array.shape[1] if array is not None and array.ndim == 2 else None


def _searches(search: ModuleSearch, permutations: int) -> int:
    if search.source == "inputs":
        return permutations
    return min(permutations, FEW_SEARCHES if search.is_long else SEARCHES)


def _data(chain: Chain, net: Perceptron | None, x: Any, y: Any) -> tuple[Any, Any]:
    if x is None or net is None:
        if y is not None:
            raise InputError("x", None, "inputs, since there are targets y")
        return None, None
    x = checked_rows("x", x, chain[0].shape[0])
    return x, None if y is None else checked_rows("y", y, chain[-1].shape[1], len(x))


def _mean_over_units(
    purity: Sequence[dict[str, Float[np.ndarray, " units"]]], name: str
) -> Float[np.ndarray, " layers"]:
    """Means over the units that some input reaches."""
    reached = [layer[name][np.isfinite(layer[name])] for layer in purity]
    return np.array([values.mean() if len(values) else np.nan for values in reached])


def _spectra(
    chain: Chain, modules: int, labels: Labels, live: Live, *, collapsed: bool
) -> Float[np.ndarray, "layers values"] | None:
    """Eigenvalues of every layer; `None` if a layer has fewer live units than there are modules."""
    if modules > min(int(mask.sum()) for mask in live[1:]):
        return None
    return layer_spectra(chain, modules, collapsed=collapsed, communities=labels, live=live)
