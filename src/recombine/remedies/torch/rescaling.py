"""Weight rescaling of PyTorch modules: see `recombine.remedies.rescaling`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import nn
from torch.nn.utils import parametrize

from recombine.errors import InputError


def rescale(
    model: nn.Module,
    factor: float | Mapping[str, float],
    *,
    readout: Literal["rescale", "keep", "reset"] = "rescale",
    head: str | None = None,
    inputs: Any = None,
    key: Any = None,
) -> nn.Module:
    """A copy of a module with all parameters multiplied by a factor; the module itself is not changed.

    **Arguments:**

    - `factor`: one for all parameters, or a mapping from beginnings of parameter names (`"layer1"`) to factors; what it
        does not name keeps its weights.
    - `readout`: what happens to the last layer: rescaled like the rest, kept, or drawn anew by its own
        `reset_parameters` (and rescaled).
    - `head`: the name of that layer (`"fc"`); by default the last module with parameters, in the order in which they
        were registered, if it is dense or a convolution.
    - `inputs`: a batch on which running statistics of batch normalisation are measured again; by default they are kept.
    - `key`: a seed for a new readout; PyTorch's own random state is not touched.

    ```python
    >>> import torch
    >>> from recombine.torch import rescale
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> smaller = rescale(net, {"0": 0.5}, readout="keep")
    >>> bool((smaller[0].weight == 0.5 * net[0].weight).all()), bool((smaller[2].weight == net[2].weight).all())
    (True, True)

    ```
    """
    from recombine.remedies.rescaling import check_factor, finite_batch, out_of_range

    check_factor(factor)
    changed = copy.deepcopy(model)
    named = dict(changed.named_parameters())
    if not named:
        raise InputError("model", type(model).__name__, "a module with parameters")
    factors = _factors(list(named), factor)
    owner = _head(changed, head) if readout != "rescale" or head is not None else ""
    if readout == "reset":
        last: Any = changed.get_submodule(owner)
        if not hasattr(last, "reset_parameters") or parametrize.is_parametrized(last):
            got = f"{owner} ({type(last).__name__})"
            raise InputError(
                "readout", got, "a last layer with `reset_parameters` and without parametrisation"
            )
        if isinstance(key, bool) or not isinstance(key, int):
            raise InputError("key", key, "a whole number, the seed of a new readout")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(key)
            last.reset_parameters()
    elif readout == "keep":
        kept = {id(parameter) for parameter in changed.get_submodule(owner).parameters()}
        factors |= {name: 1.0 for name, parameter in named.items() if id(parameter) in kept}
    with torch.no_grad():
        for name, parameter in named.items():
            if not torch.isfinite(parameter).all():
                raise InputError(f"parameter {name!r}", "NaN or infinity", "finite weights")
            had = bool(parameter.any())
            parameter.mul_(factors[name])
            if not torch.isfinite(parameter).all() or (had and not parameter.any()):
                raise out_of_range(factors[name])
    if inputs is not None:
        _measure_statistics(changed, finite_batch(inputs))
    return changed


def _head(model: nn.Module, name: str | None) -> str:
    """The layer that is kept or drawn anew; it must not share weights with another one."""
    owners = [_owner(one) for one, _ in model.named_parameters(remove_duplicate=False)]
    choices = ", ".join(dict.fromkeys(owner for owner in owners if owner)) or "none"
    if name is None:
        name = owners[-1]
        last = model.get_submodule(name)
        dense = isinstance(last, nn.Linear | nn.modules.conv._ConvNd)
        if not dense or ("" in owners and name):  # the module may use parameters of its own as a readout
            found = f"{name or 'the module itself'} ({type(last).__name__}), the last module with parameters"
            raise InputError("head", found, f"the name of the readout: one of {choices}")
    elif name not in owners:
        raise InputError("head", name, f"a layer with parameters: {choices}")
    own = {id(parameter) for parameter in model.get_submodule(name).parameters()}
    for one, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) in own and _owner(one) != name:
            raise InputError("head", name, f"a layer with weights of its own; it shares them with {one!r}")
    return name


def _owner(parameter: str) -> str:
    """The module that has a parameter, also one from which a weight is computed, as in weight normalisation."""
    owner, found, _ = parameter.partition(".parametrizations.")
    return owner if found else parameter.rpartition(".")[0]


def _factors(names: list[str], factor: float | Mapping[str, float]) -> dict[str, float]:
    if not isinstance(factor, Mapping):
        return dict.fromkeys(names, float(factor))
    factors = dict.fromkeys(names, 1.0)
    for start, value in factor.items():
        matched = [name for name in names if name == start or name.startswith(f"{start}.")]
        if not matched:
            raise InputError(
                "factor", start, f"beginnings of parameter names, such as {', '.join(names[:4])}"
            )
        factors |= dict.fromkeys(matched, float(value))
    return factors


def _measure_statistics(model: nn.Module, inputs: Any) -> None:
    """Running statistics of all batch normalisations become those of one batch; modes are restored."""
    norms = [
        m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.track_running_stats
    ]
    modes = {module: module.training for module in model.modules()}
    first = next(model.parameters())
    momenta = {norm: norm.momentum for norm in norms}
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average
        norm.train()
    try:
        with torch.no_grad():
            rows = torch.as_tensor(inputs, device=first.device)
            model(rows.to(first.dtype) if rows.is_floating_point() else rows)
    finally:
        for norm, momentum in momenta.items():
            norm.momentum = momentum
        for module, mode in modes.items():
            module.training = mode
