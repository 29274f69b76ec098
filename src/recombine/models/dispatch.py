"""Which framework a model belongs to, found out without importing any; and the adapter for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, get_args

import numpy as np

from recombine.errors import InputError
from recombine.models.function import Arrays, ModelFunction, Precision, Rows, numpy_function
from recombine.models.model import Backend, Framework, Layers, Model
from recombine.models.model_errors import UntraceableError
from recombine.models.model_inputs import Inputs, as_inputs


def as_model(
    model: Any,
    inputs: Any,
    *,
    layers: Layers = None,
    output: str | int | None = None,
    batch: int | None = None,
) -> Model:
    """A model of any framework with its inputs, behind one interface.

    **Arguments:**

    - `model`: a PyTorch module, or a method of one; an Equinox module or a JAX function; a fitted scikit-learn
        estimator; or any function of arrays `(rows, ...)`, or of one row.
    - `inputs`: an array `(rows, ...)` of NumPy, PyTorch or JAX; a tuple or list of several, passed in order; a mapping
        of several, passed as keywords; or, for an estimator, a data frame.
    - `layers`: names of layers to read, by default all; or a mapping from names to functions of the inputs.
    - `output`: which of several outputs is meant, by index or name; by default the first.
    - `batch`: rows at a time; by default as many as fit into 128 MB.

    ```python
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor
    >>> from recombine.models import as_model
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


def as_function(
    model: Any,
    rows: Rows,
    *,
    framework: Arrays | None = None,
    batched: bool | None = None,
    precision: Precision | None = None,
    chunk: int = 128,
    field: str = "model",
) -> ModelFunction:
    """A model as a function of NumPy rows, with mixed derivatives of any order along directions.

    **Arguments:**

    - `model`: a callable from an input `(latents,)` to an output of any shape, or from `(rows, latents)` to
        `(rows, ...)`: a JAX function or Equinox module, a PyTorch module, or any function of NumPy arrays; or a
        [`recombine.models.Model`][].
    - `rows`: `(samples, latents)`, some of which are tried.
    - `framework`: which arrays it takes, `"jax"`, `"torch"` or `"numpy"`; found by trying by default. A plain function
        of PyTorch tensors needs it.
    - `batched`: whether it takes rows together; found by trying by default.
    - `precision`: of JAX functions, by default float64 where the function allows it.
    - `chunk`: how many rows are computed at a time, which bounds memory.
    - `field`: the caller's name for `model`, for errors.

    ```python
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from recombine.models import as_function
    >>> function = as_function(lambda z: z[0] * z[1], np.ones((3, 2)))
    >>> function.values(np.array([[2.0, 3.0]])), function.derivative(np.ones((1, 2)), np.eye(2)[None])
    (array([[6.]]), array([[1.]]))

    ```
    """
    evaluated: Any = nullcontext()
    if isinstance(model, Model):
        if framework is None and model.takes_tensors:
            framework = "torch"
        batched = model.by_rows if batched is None else batched
        evaluated, model = model.eval_mode(), model.function
    if not callable(model):
        raise InputError(field, type(model).__name__, "a function of latents")
    if framework not in (None, *get_args(Arrays)):
        raise InputError("framework", framework, "'jax', 'torch' or 'numpy'")
    if precision not in (None, *get_args(Precision)):
        raise InputError("precision", precision, "'float32' or 'float64'")
    if not isinstance(chunk, int | np.integer) or chunk < 1:
        raise InputError("chunk", chunk, "a positive number of rows")
    if framework is None and is_torch(model):
        framework = "torch"
    with evaluated:
        if framework == "torch":
            return _torch_function(model, rows, batched, chunk, field)
        reason = ""
        if framework in (None, "jax"):
            from recombine.models.jax_function import jax_function

            try:
                return jax_function(
                    model, rows, batched=batched, precision=precision, chunk=chunk, field=field
                )
            except UntraceableError as error:
                if framework == "jax":
                    raise InputError(field, str(error), "a function that JAX can trace") from error
                reason = str(error)
        return numpy_function(model, rows, batched=batched, chunk=chunk, field=field, reason=reason)


def _torch_function(model: Any, rows: Rows, batched: bool | None, chunk: int, field: str) -> ModelFunction:
    try:
        from recombine.models.torch.function import torch_function
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        expected = 'PyTorch to be installed: pip install "recombine[torch]"'
        raise InputError("framework", "torch", expected) from None
    return torch_function(model, rows, batched=batched, chunk=chunk, field=field)


def framework_of(model: Any, inputs: Inputs) -> Framework:
    """The framework that a model is written in, as far as can be seen without importing anything.

    ```python
    >>> import numpy as np
    >>> from recombine.models.model_inputs import as_inputs
    >>> from recombine.models.dispatch import framework_of
    >>> framework_of(np.sin, as_inputs(np.zeros(3)))
    'callable'

    ```
    """
    if is_torch(model):
        return "torch"
    if _is_jax(model, inputs):
        return "jax"
    return "sklearn" if hasattr(model, "predict") else "callable"


def _backend(model: Any, inputs: Inputs, layers: Layers, output: str | int | None) -> Backend:
    framework = framework_of(model, inputs)
    if framework == "torch":
        from recombine.models.torch.backend import TorchBackend

        return TorchBackend(model, inputs, layers, output)
    if framework == "jax":
        from recombine.models.jax_model import jax_backend

        return jax_backend(model, inputs, layers, output)
    if framework == "sklearn":
        from recombine.models.sklearn_model import SklearnBackend

        return SklearnBackend(model, inputs, layers, output)
    if isinstance(model, type) or not callable(model):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputError("model", got, "a model that can be called, or an estimator with predict")
    from recombine.models.callable_model import function_backend

    return function_backend(model, inputs, layers, output)


def is_torch(model: Any) -> bool:
    """Whether a model is a PyTorch module, or a method of one."""
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
