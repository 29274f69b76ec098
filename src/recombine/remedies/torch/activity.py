"""Penalties on activity and on the weights that carry it, for PyTorch modules (Qian et al. 2025).

The arithmetic is that of `recombine.remedies.activity`; this module finds activities and weights in any module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor, nn

from recombine.models.torch.eager import uncompiled
from recombine.models.torch.linear_maps import Read
from recombine.models.torch.watch import Watch, chosen_reads, watched, zero_like
from recombine.remedies.activity import activity_of, pushed_activity_of, weighted_activity_of


def weighted_activity(
    source: nn.Module | Watch,
    x: Any = None,
    *,
    alpha: float = 2.0,
    layers: Sequence[str] | None = None,
    examples: int | None = None,
) -> Tensor:
    """Σ_l E Σ_i |a_i^l|^alpha Σ_j (w_ij^{l+1})², over the hidden activities that linear maps read.

    Linear maps are `Linear`, `Conv1d` to `Conv3d`, their transposes, and the projections of queries, keys and values in
    `MultiheadAttention`, but neither its output projection, whose input no hook can see, nor recurrent layers. A
    convolution is penalised by the variance that arrives at all of its output pixels; pixels repeated by padding count
    as separate ones. Biases are not penalised, nor is the module's input: a tensor counts as input as long as no
    parameter took part in it, so a flattened or scaled image does, and an embedding or a normalisation with trained
    scale does not.

    **Arguments:**

    - `source`, `x`: a module and its input (a tensor, a tuple, or a dictionary of named inputs), which takes a forward
        pass of its own, in the mode the module is in and without touching running statistics; or a `Watch` that has
        seen the loop's own forward pass.
    - `alpha`: 2 is the published choice, which no rescaling of units can escape; 1 is Poisson-like noise.
    - `layers`: names of the linear maps whose reading counts; by default all.
    - `examples`: the number of examples to average over; by default the length of each activity's first axis. Needed if
        the batch is another axis (transformers without `batch_first`) or is folded with others.

    ```python
    >>> import torch
    >>> from recombine.torch import weighted_activity
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> x, y = torch.ones(5, 3), torch.zeros(5, 2)
    >>> loss = ((net(x) - y) ** 2).mean() + 1e-3 * weighted_activity(net, x)
    >>> loss.backward()
    >>> bool((net[0].weight.grad != 0).any())
    True

    ```
    """
    return uncompiled(_weighted_activity, source, x, alpha, layers, examples)


def _weighted_activity(
    source: nn.Module | Watch, x: Any, alpha: float, layers: Sequence[str] | None, examples: int | None
) -> Tensor:
    watch = watched(source, x)
    return _summed(watch, chosen_reads(watch, layers), lambda read: _weighted(read, alpha), examples)


def _summed(
    watch: Watch, reads: Iterable[Read], penalty: Callable[[Read], Tensor], examples: int | None
) -> Tensor:
    """The sum of a mean over each activity's rows, as means over examples."""
    total = zero_like(watch)
    for read in reads:
        share = 1.0 if examples is None else len(read.activity) / examples
        total = total + share * penalty(read)
    return total


def _weighted(read: Read, alpha: float) -> Tensor:
    """E Σ_i |a_i|^alpha Σ_j w_ij² of one linear map, over all pixels or tokens."""
    activity = read.activity
    if activity.ndim == 2 and not read.is_convolution:
        return weighted_activity_of(activity, read.weight.T, alpha=alpha)
    return pushed_activity_of(activity, read.push_variance, alpha=alpha)


def activity(
    source: nn.Module | Watch,
    x: Any = None,
    *,
    alpha: float = 2.0,
    layers: Sequence[str] | None = None,
    examples: int | None = None,
) -> Tensor:
    """Activity decay Σ_l E Σ_i |a_i^l|^alpha, over the same activities, each once however many maps read it.

    **Arguments:** as for `weighted_activity`.

    ```python
    >>> import torch
    >>> from recombine.torch import activity, trace
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> x = torch.ones(5, 3)
    >>> hidden = trace(net, x)[1]["1"]
    >>> bool(torch.isclose(activity(net, x), (hidden**2).sum(1).mean()))
    True

    ```
    """
    return uncompiled(_activity, source, x, alpha, layers, examples)


def _activity(
    source: nn.Module | Watch, x: Any, alpha: float, layers: Sequence[str] | None, examples: int | None
) -> Tensor:
    watch = watched(source, x)
    different = {id(read.tensor): read for read in chosen_reads(watch, layers)}.values()
    return _summed(watch, different, lambda read: activity_of(read.activity, alpha=alpha), examples)
