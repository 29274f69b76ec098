"""The parameters of a model, whatever the framework: weights of layers in a chain, and those that are not finite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from recombine.errors import InputError
from recombine.models.model import Model


def signed_weights(model: Model) -> dict[str, np.ndarray] | None:
    """As `Model.weights`, but with whole kernels for JAX convolutions, which it replaces by sizes of connections.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine.models import as_model
    >>> from recombine.models.parameters import signed_weights
    >>> keys = jax.random.split(jax.random.key(0))
    >>> net = eqx.nn.Sequential([eqx.nn.Conv2d(1, 4, 3, key=keys[0]), eqx.nn.Conv2d(4, 2, 3, key=keys[1])])
    >>> {name: w.shape for name, w in signed_weights(as_model(net, np.ones((3, 1, 8, 8), np.float32))).items()}
    {'hidden0': (3, 3, 1, 4), 'output': (3, 3, 4, 2)}

    ```
    """
    weights = model.weights()
    if weights is None or model.framework != "jax":
        return weights
    from recombine.nets import staged
    from recombine.nets.connections import PerExample, links

    kernels = {}
    for link in links(staged(model.function)):
        kernel = np.asarray(getattr(link.layer, "weight", weights[link.target]), dtype=np.float64)
        if kernel.ndim == 4:  # Equinox has outputs first; nets of this package have them last
            kernels[link.target] = (
                kernel.transpose(2, 3, 1, 0) if isinstance(link.layer, PerExample) else kernel
            )
        else:
            kernels[link.target] = weights[link.target]
    return kernels


def check_finite(field: str, model: Model) -> None:
    """An `InputError` that names the first array of parameters with NaN or infinity.

    ```python
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor
    >>> from recombine.models import as_model
    >>> from recombine.models.parameters import check_finite
    >>> x = np.linspace(-1, 1, 40).reshape(20, 2)
    >>> net = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", random_state=0).fit(x, x.sum(axis=1))
    >>> net.coefs_[0][0, 0] = np.nan
    >>> check_finite("after", as_model(net, x))
    Traceback (most recent call last):
    recombine.errors.InputError: after: got "NaN or infinity in the weights 'coefs_[0]'", expected finite weights

    ```
    """
    for name, finite in _finite(model):
        if not finite:
            raise InputError(field, f"NaN or infinity in the weights {name!r}", "finite weights")


def _finite(model: Model) -> Iterator[tuple[str, bool]]:
    if model.framework == "torch":
        import torch
        from torch.nn import Module

        for name, values in cast(Module, model.function).named_parameters():
            yield name.removeprefix("module."), bool(torch.isfinite(values).all())
    elif model.framework == "jax":
        import jax

        from recombine.nets.stages import trainable

        function = model.function
        marked = zip(
            jax.tree_util.tree_leaves_with_path(function),
            jax.tree.leaves(trainable(function)),
            strict=True,
        )
        for (path, leaf), learned in marked:
            if learned:
                yield jax.tree_util.keystr(path).lstrip("."), bool(np.isfinite(np.asarray(leaf)).all())
    elif model.framework == "sklearn":
        estimator = getattr(model.function, "__self__", None)
        for number, matrix in enumerate(getattr(estimator, "coefs_", ())):
            yield f"coefs_[{number}]", bool(np.isfinite(matrix).all())
