"""Is a net made of modules? Metrics of its weight matrices, and of its activations where they are known.

Start with `layer_weights`, which checks that the matrices fit together; every other function takes what it returns.
Units are labelled layer by layer, inputs first and outputs last; a label of -1 marks a dead unit, which no metric
counts.

```python
>>> import numpy as np
>>> from scipy.linalg import block_diag
>>> from recombine.metrics.connectivity import assign_known, in_block_mass, layer_weights
>>> rng = np.random.default_rng(0)
>>> weights = layer_weights([block_diag(*rng.normal(size=(3, a, b))) for a, b in ((1, 4), (4, 4), (4, 1))])
>>> in_block_mass(weights, assign_known(weights))["mass"].tolist()
[1.0, 1.0, 1.0]

```

**Reference:** Qian, Liang and Fiete, Modular connectivity in neural networks emerges from Poisson noise-motivated
regularisation, and promotes robustness and compositional generalisation, 2025, arXiv 2512.13707.
"""

from recombine.metrics.connectivity.assignment import (
    Labels,
    assign_components,
    assign_known,
    assign_unknown,
    choose_modules,
    influence,
)
from recombine.metrics.connectivity.graph import (
    in_block_mass,
    layered_graph,
    newman,
    newman_modularity,
    newman_null,
)
from recombine.metrics.connectivity.input_output import jacobian_ratio, numerical_jacobian, unit_purity
from recombine.metrics.connectivity.layered import (
    ORIENTATIONS,
    Chain,
    Live,
    Orientation,
    all_live,
    layer_weights,
    live_units,
)
from recombine.metrics.connectivity.separation import (
    Module,
    Perceptron,
    block_pruned,
    extract_modules,
    joined,
    weight_threshold,
)
from recombine.metrics.connectivity.spectra import laplacian_spectrum, layer_spectra, similarity

__all__ = [
    "ORIENTATIONS",
    "Chain",
    "Labels",
    "Live",
    "Module",
    "Orientation",
    "Perceptron",
    "all_live",
    "assign_components",
    "assign_known",
    "assign_unknown",
    "block_pruned",
    "choose_modules",
    "extract_modules",
    "in_block_mass",
    "influence",
    "jacobian_ratio",
    "joined",
    "laplacian_spectrum",
    "layer_spectra",
    "layer_weights",
    "layered_graph",
    "live_units",
    "newman",
    "newman_modularity",
    "newman_null",
    "numerical_jacobian",
    "similarity",
    "unit_purity",
    "weight_threshold",
]
