"""Weight rescaling: shrink what was pretrained, so that finetuning selects from it instead of keeping all of it.

Multiplying all weights by s < 1 before finetuning moves a network from the lazy towards the nested regime (Lippl &
Lindsey 2024): it then prefers a sparse subset of the features that it knows. Too small a factor makes it forget.

What else changes with the weights:

- **Readout.** Published runs rescale it with everything else. A new head can be drawn anew instead (`readout="reset"`).
- **Batch normalisation.** Gain and shift are rescaled, running statistics are not, so predictions before the first
  training epoch mean nothing; pass `inputs` to measure the statistics again. Weights in front of a normalisation have
  no effect on the function but a larger effective learning rate.
- **Learning rate.** In a network of L layers without normalisation, gradients shrink by s^(L-1) and weights by s;
  `rescaled_rate` gives the rate at which weights change by the same share per step as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from recombine.errors import InputError
from recombine.models.dispatch import is_torch
from recombine.models.model_outputs import to_numpy
from recombine.nets import Net
from recombine.nets.layers.dense import uniform_fan_in
from recombine.nets.stages import observe, trainable
from recombine.tasks.draws import checked_seed

if TYPE_CHECKING:
    import polars as pl

Readout = Literal["rescale", "keep", "reset"]
FACTORS = (1.0, 0.5, 0.25, 0.125)
"""Those that the paper tried and found useful for a ResNet, from no change on."""


def rescale(
    model: Any,
    factor: float | Mapping[str, float],
    *,
    readout: Readout = "rescale",
    head: str | None = None,
    inputs: Any = None,
    key: PRNGKeyArray | int | None = None,
) -> Any:
    """A copy of a model with all trained weights multiplied by a factor; the model itself is not changed.

    **Arguments:**

    - `model`: a net of this package, any Equinox module (without `readout` and factors by layer), or a PyTorch module.
    - `factor`: one for all layers, or a mapping from stages (for PyTorch, beginnings of parameter names) to factors;
        what it does not name keeps its weights.
    - `readout`: what happens to the last layer: rescaled like the rest, kept, or drawn anew (and rescaled).
    - `head`: the name of that layer; by default the last one with weights in the order of the model's definition.
    - `inputs`: a batch on which running statistics of batch normalisation are measured again; by default they are kept.
    - `key`: for a new readout: a JAX key, or a seed for a PyTorch module.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import mlp
    >>> from recombine.remedies import rescale
    >>> net = mlp(inputs=3, width=8, depth=1, outputs=1, bias=False, key=jax.random.key(0))
    >>> x = jnp.ones((1, 3))
    >>> bool(jnp.allclose(rescale(net, 0.5)(x), 0.25 * net(x)))  # two layers
    True

    ```
    """
    check_factor(factor)
    if readout not in {"rescale", "keep", "reset"}:
        raise InputError("readout", readout, "'rescale', 'keep' or 'reset'")
    if is_torch(model):
        from recombine.remedies.torch.rescaling import rescale as torch_rescale

        return torch_rescale(model, factor, readout=readout, head=head, inputs=inputs, key=key)
    if not isinstance(model, eqx.Module):
        raise InputError("model", type(model).__name__, "an Equinox module or a PyTorch module")
    if isinstance(model, Net):
        changed: Any = _rescaled_net(model, factor, readout, head, key)
        return changed if inputs is None else _with_statistics(changed, jnp.asarray(finite_batch(inputs)))
    if isinstance(factor, Mapping) or readout != "rescale" or head or inputs is not None:
        raise InputError("model", type(model).__name__, "a `recombine.nets.Net`, whose layers have names")
    return _times(model, float(factor))


def check_factor(factor: Any) -> None:
    """An `InputError` unless every factor is a positive number."""
    if isinstance(factor, Mapping) and not factor:
        raise InputError("factor", dict(factor), "a factor for at least one layer")
    for value in factor.values() if isinstance(factor, Mapping) else [factor]:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not (np.isfinite(value) and value > 0):
            raise InputError("factor", value, "a positive number")


def finite_batch(inputs: Any) -> np.ndarray:
    """Inputs for running statistics; an `InputError` unless they are numbers, in rows, and finite."""
    rows = to_numpy(inputs)
    if not rows.ndim or not len(rows) or rows.dtype.kind not in "fiub":
        raise InputError("inputs", f"{rows.dtype} of shape {rows.shape}", "a batch of numbers (rows, ...)")
    if not np.isfinite(rows).all():
        raise InputError("inputs", "NaN or infinity", "finite numbers")
    return rows


def rescaled_rate(rate: float, factor: float, layers: int) -> float:
    """The learning rate at which weights change by as large a share per step as before rescaling.

    ```python
    >>> from recombine.remedies import rescaled_rate
    >>> rescaled_rate(0.1, 0.5, layers=2), rescaled_rate(0.1, 0.5, layers=4)
    (0.1, 0.4)

    ```
    """
    check_factor(factor)
    if layers < 1:
        raise InputError("layers", layers, "a positive whole number")
    return rate * factor ** (2 - layers)


def _times(tree: PyTree, factor: float) -> PyTree:
    trained, rest = eqx.partition(tree, trainable(tree))
    if not all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(trained)):
        raise InputError("model", "NaN or infinite weights", "finite weights")
    scaled = jax.tree.map(lambda w: factor * w, trained)
    for before, after in zip(jax.tree.leaves(trained), jax.tree.leaves(scaled), strict=True):
        if not bool(jnp.isfinite(after).all()) or bool(before.any() and not after.any()):
            raise out_of_range(factor)
    return eqx.combine(scaled, rest)


def out_of_range(factor: float) -> InputError:
    """What to say if a factor makes weights infinite or zero."""
    return InputError("factor", factor, "a factor that leaves weights within the range of their precision")


def _rescaled_net(
    net: Net,
    factor: float | Mapping[str, float],
    readout: Readout,
    head: str | None,
    key: PRNGKeyArray | int | None,
) -> Net:
    names = list(net.names)
    weighted = [name for name, stage in net.stages if jax.tree.leaves(eqx.filter(stage, trainable(stage)))]
    if not weighted:
        raise InputError("model", type(net).__name__, "a net with trained weights")
    if isinstance(factor, Mapping):
        unknown = [name for name in factor if name not in names]
        if unknown:
            raise InputError("factor", unknown[0], f"stages of the net: {', '.join(names)}")
        factors = {name: float(factor.get(name, 1.0)) for name in names}
    else:
        factors = dict.fromkeys(names, float(factor))
    if head is not None and head not in weighted:
        raise InputError("head", head, f"a stage with weights: {', '.join(weighted)}")
    last = weighted[-1] if head is None else head
    changed = []
    for name, stage in net.stages:
        if name == last and readout == "keep":
            changed.append(stage)
        elif name == last and readout == "reset":
            if key is None or isinstance(key, int):
                raise InputError("key", key, "a JAX random key, for a new readout")
            changed.append(_times(_redrawn(stage, key), factors[name]))
        else:
            changed.append(_times(stage, factors[name]))
    return Net(net.names, tuple(changed))


def _redrawn(stage: Any, key: PRNGKeyArray) -> Any:
    """The stage with weights drawn anew, uniformly within ±1/√fan_in; vectors such as biases start at zero."""
    trained, rest = eqx.partition(stage, trainable(stage))
    leaves, structure = jax.tree.flatten(trained)
    fresh = [
        uniform_fan_in(jax.random.fold_in(key, i), leaf.shape, int(np.prod(leaf.shape[:-1])))
        if leaf.ndim > 1
        else jnp.zeros_like(leaf)
        for i, leaf in enumerate(leaves)
    ]
    return eqx.combine(jax.tree.unflatten(structure, fresh), rest)


def _with_statistics(net: Net, inputs: Array) -> Net:
    """The net with running statistics measured on one batch, as if it had been trained on it for long."""
    for _ in range(100):  # each batch moves running statistics by a tenth
        _, _, net = observe(net, inputs, key=jax.random.key(0))
    return net


@dataclass(frozen=True, eq=False)
class RescalingSearch:
    """Validation losses of finetuning from several rescalings.

    - `factors`: those that were tried; `losses`: `(factors, repeats)`.
    """

    factors: tuple[float, ...]
    losses: Float[np.ndarray, "factors repeats"]

    @property
    def best(self) -> float:
        """The factor with the lowest median loss; a loss that is not a number counts as infinite."""
        losses = np.where(np.isnan(self.losses), np.inf, self.losses)
        return self.factors[int(np.argmin(np.median(losses, axis=1)))]

    def table(self) -> pl.DataFrame:
        """One row per factor and repeat."""
        import polars as pl

        return pl.DataFrame(
            [
                {"factor": factor, "repeat": repeat, "loss": float(loss)}
                for factor, row in zip(self.factors, self.losses, strict=True)
                for repeat, loss in enumerate(row)
            ]
        )

    def __repr__(self) -> str:
        medians = ", ".join(
            f"{factor:g}: {np.median(row):.3g}" for factor, row in zip(self.factors, self.losses, strict=True)
        )
        return f"RescalingSearch(best {self.best:g}; {medians})"


def search_rescaling(
    model: Any,
    finetune: Callable[[Any, np.ndarray, np.ndarray], Any],
    validate: Callable[[Any, np.ndarray, np.ndarray], float],
    inputs: np.ndarray,
    targets: np.ndarray,
    *,
    factors: Sequence[float] = FACTORS,
    validation: float = 0.25,
    repeats: int = 3,
    seed: int = 0,
    **options: Any,
) -> RescalingSearch:
    """Tries several rescalings before finetuning, each on the same splits into training and validation rows.

    **Arguments:**

    - `finetune`: `(model, inputs, targets) -> model`, your own training on some rows.
    - `validate`: `(model, inputs, targets) -> loss` on other rows, lower is better.
    - `inputs`, `targets`: arrays of the new task, `(rows, ...)` each.
    - `factors`: to try; include 1.
    - `validation`: the share of rows held out, drawn `repeats` times by `seed`.
    - `options`: for `rescale`.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import search_rescaling
    >>> from recombine.nets import mlp
    >>> import jax
    >>> net = mlp(inputs=2, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> x = np.ones((8, 2)); y = np.zeros((8, 1))
    >>> loss = lambda model, x, y: float(((model(x) - y) ** 2).mean())
    >>> search_rescaling(net, lambda model, x, y: model, loss, x, y, factors=(1.0, 0.1)).best  # nothing is trained
    0.1

    ```
    """
    if isinstance(factors, str) or not isinstance(factors, Sequence | np.ndarray) or not len(factors):
        raise InputError("factors", factors, "a list of positive numbers")
    for factor in factors:
        if isinstance(factor, Mapping):
            raise InputError("factors", factor, "positive numbers, one for all layers each")
        check_factor(factor)
    x, y = np.asarray(inputs), np.asarray(targets)
    if len(x) != len(y) or len(x) < 4:
        raise InputError("inputs", (len(x), len(y)), "as many inputs as targets, at least 4")
    seed = checked_seed(seed)
    if isinstance(validation, bool) or not isinstance(validation, int | float) or not 0 < validation < 1:
        raise InputError("validation", validation, "a share between 0 and 1")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("repeats", repeats, "a positive whole number")
    held = int(np.clip(round(validation * len(x)), 1, len(x) - 1))
    losses = np.empty((len(factors), repeats))
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(len(x))
        train, test = order[held:], order[:held]
        for i, factor in enumerate(factors):
            trained = finetune(rescale(model, factor, **options), x[train], y[train])
            if trained is None:
                raise InputError("finetune", None, "a function that returns the finetuned model")
            losses[i, repeat] = float(validate(trained, x[test], y[test]))
    if not np.isfinite(losses).any():
        raise InputError("validate", "no finite loss", "a finite loss for at least one factor")
    return RescalingSearch(tuple(map(float, factors)), losses)
