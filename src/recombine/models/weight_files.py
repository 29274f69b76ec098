"""Loading weights from files into a model. Nothing is ever unpickled."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.array_files import read_arrays
from recombine.errors import InputError
from recombine.models.model_errors import as_model_error

_MAX_NAMES = 4


def load_weights(model: Any, path: str | Path) -> Any:
    """The model with the weights of a file.

    **Arguments:**

    - `model`: a PyTorch module, for an `.npz` or `.safetensors` file with the arrays of its state dict; or an Equinox
        module, for an `.eqx` file of `equinox.tree_serialise_leaves`.
    - `path`: the file; all names and shapes must match.

    **Returns:**

    The same PyTorch module, or a new Equinox module.

    ```python
    >>> import equinox as eqx, jax
    >>> from recombine.models import load_weights
    >>> trained, blank = (eqx.nn.Linear(2, 3, key=jax.random.key(seed)) for seed in (0, 1))
    >>> path = getfixture("tmp_path") / "net.eqx"
    >>> eqx.tree_serialise_leaves(path, trained)
    >>> bool((load_weights(blank, path).weight == trained.weight).all())
    True

    ```
    """
    torch, equinox = sys.modules.get("torch"), sys.modules.get("equinox")
    if torch is not None and isinstance(model, torch.nn.Module):
        _load_torch(torch, model, path)
        return model
    if equinox is not None and isinstance(model, equinox.Module):
        return _load_equinox(equinox, model, Path(path))
    raise InputError("model", type(model).__name__, "a PyTorch or Equinox module to load weights into")


def takes_weights(model: Any) -> bool:
    """Whether weights can be loaded into a model.

    ```python
    >>> from recombine.models import takes_weights
    >>> takes_weights(abs)
    False

    ```
    """
    kinds = [(sys.modules.get("torch"), "nn.Module"), (sys.modules.get("equinox"), "Module")]
    return any(
        library is not None and isinstance(model, attrgetter(name)(library)) for library, name in kinds
    )


def _load_torch(torch: Any, model: Any, path: str | Path) -> None:
    arrays = read_arrays("weights", path)
    model = getattr(model, "_orig_mod", model)
    expected = {name: value for name, value in model.state_dict().items() if hasattr(value, "shape")}
    _check_names(arrays, expected)
    state = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiubc":
            raise InputError("weights", f"{name!r} of type {array.dtype.name}", "numbers")
        state[name] = torch.tensor(array)
    try:
        model.load_state_dict(state, strict=True)
    except Exception as error:  # modules may have their own way to load
        raise as_model_error("while loading weights", error) from error


def _check_names(arrays: Mapping[str, np.ndarray], expected: Mapping[str, Any]) -> None:
    missing = [name for name in expected if name not in arrays]
    spare = [name for name in arrays if name not in expected]
    if missing or spare:
        problems = [
            f"{kind} {_listed(names)}"
            for kind, names in (("without", missing), ("with unknown", spare))
            if names
        ]
        raise InputError("weights", f"arrays {' and '.join(problems)}", "the names of the model's state dict")
    for name, value in expected.items():
        if arrays[name].shape != tuple(value.shape):
            got = f"{name!r} of shape {arrays[name].shape}"
            raise InputError("weights", got, f"shape {tuple(value.shape)}, as in the model")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"{', '.join(names[:_MAX_NAMES])}{more}"


def _load_equinox(equinox: Any, model: Any, path: Path) -> Any:
    if path.suffix.lower() != ".eqx" or not path.is_file():
        expected = "the path of an .eqx file of equinox.tree_serialise_leaves"
        raise InputError("weights", str(path), expected)
    try:
        return equinox.tree_deserialise_leaves(path, model)
    except Exception as error:  # a damaged file, or one of another model, can fail anywhere
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError("weights", str(path), f"the arrays of this model ({reason})") from None
