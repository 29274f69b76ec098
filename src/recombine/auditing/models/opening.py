"""One view of any model: which framework it belongs to is found out without importing any."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recombine.auditing.models.inputs import Inputs, as_inputs
from recombine.auditing.models.model import Backend, Framework, Model
from recombine.errors import InputError

Layers = Sequence[str] | Mapping[str, Callable[..., Any]] | None


def as_model(
    model: Any,
    inputs: Any,
    *,
    layers: Layers = None,
    output: str | int | None = None,
    batch: int | None = None,
) -> Model:
    """The one view of a model on its inputs.

    **Arguments:**

    - `model`: a PyTorch module, or a method of one; an Equinox module or a JAX function; a fitted scikit-learn
        estimator; or any function of arrays `(rows, ...)`, or of one row.
    - `inputs`: an array `(rows, ...)` of NumPy, PyTorch or JAX; a tuple or list of several, given in order; a mapping
        of several, given as keywords; or, for an estimator, a data frame.
    - `layers`: names of layers to read, by default all; or a mapping from names to functions of the inputs.
    - `output`: which of several outputs is meant, by index or name; by default the first.
    - `batch`: rows at a time; by default as many as fit into 128 MB.

    ```python
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor
    >>> from recombine.auditing.models import as_model
    >>> x = np.linspace(-1, 1, 40).reshape(20, 2)
    >>> net = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", random_state=0).fit(x, x.sum(axis=1))
    >>> model = as_model(net, x)
    >>> model.framework, model.layers, [chunk.activities["hidden0"].shape for chunk in model.run(["hidden0"])]
    ('sklearn', ('hidden0',), [(20, 8)])

    ```
    """
    if isinstance(layers, Mapping):
        for name, reader in layers.items():
            if not callable(reader):
                raise InputError(f"layers[{name!r}]", type(reader).__name__, "a function of the inputs")
    rows = as_inputs(inputs)
    return Model(_backend(model, rows, layers, output), rows, batch)


def framework_of(model: Any, inputs: Inputs) -> Framework:
    """What a model is written in, as far as can be seen without importing anything.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.models.inputs import as_inputs
    >>> from recombine.auditing.models.opening import framework_of
    >>> framework_of(np.sin, as_inputs(np.zeros(3)))
    'callable'

    ```
    """
    if _is_torch(model):
        return "torch"
    if _is_jax(model, inputs):
        return "jax"
    return "sklearn" if hasattr(model, "predict") else "callable"


def _backend(model: Any, inputs: Inputs, layers: Layers, output: str | int | None) -> Backend:
    framework = framework_of(model, inputs)
    if framework == "torch":
        from recombine.auditing.models.torch_model import TorchBackend

        return TorchBackend(model, inputs, layers, output)
    if framework == "jax":
        from recombine.auditing.models.jax_model import jax_backend

        return jax_backend(model, inputs, layers, output)
    if framework == "sklearn":
        from recombine.auditing.models.sklearn_model import SklearnBackend

        return SklearnBackend(model, inputs, layers, output)
    if isinstance(model, type) or not callable(model):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputError("model", got, "a model that can be called, or an estimator with predict")
    from recombine.auditing.models.callable_model import function_backend

    return function_backend(model, inputs, layers, output)


def _is_torch(model: Any) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return isinstance(model, torch.nn.Module) or isinstance(getattr(model, "__self__", None), torch.nn.Module)


def _is_jax(model: Any, inputs: Inputs) -> bool:
    jax, equinox = sys.modules.get("jax"), sys.modules.get("equinox")
    if jax is None or isinstance(model, type) or not callable(model):
        return False
    if equinox is not None and isinstance(getattr(model, "__self__", model), equinox.Module):
        return True
    if type(model).__module__.split(".")[0] in {"jax", "jaxlib"}:
        return True
    return not hasattr(model, "predict") and any(isinstance(part, jax.Array) for part in inputs.parts)
