"""Equinox modules and JAX functions: compiled once for a piece, with the stages of nets as layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.auditing.models.callable_model import CallableBackend, callable_name
from recombine.auditing.models.calling import OTHER
from recombine.auditing.models.failing import NoDerivativeError, user_code
from recombine.auditing.models.inputs import Column, Inputs
from recombine.auditing.models.model import Backend, Framework, chosen_layers
from recombine.auditing.models.outputs import Place, at, choose, first_array, rows_error, to_numpy
from recombine.errors import InputError
from recombine.nets import staged, trace, weight_matrices
from recombine.nets.stages import trainable
from recombine.nets.wiring import links, weighted_layers
from recombine.probes.connectivity import layer_weights


class UntraceableError(Exception):
    """JAX cannot trace the function."""


def jax_backend(
    model: Any,
    inputs: Inputs,
    layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None,
    output: str | int | None,
) -> Backend:
    """The compiled view, or a plain one where JAX cannot trace the function."""
    steady_model, notes = _steady(model)
    convert = _converter(steady_model)
    try:
        compiled = JaxBackend(steady_model, inputs, layers, output, convert)
    except UntraceableError:
        compiled = None
    if compiled is not None:
        compiled.notes[:0] = notes
        return compiled
    plain = CallableBackend(steady_model, inputs, layers, output, framework="jax", convert=convert)
    plain.notes[:0] = [*notes, "JAX cannot trace the model; it is run without being compiled"]
    return plain


class JaxBackend:
    """A function of batches, or of one example mapped over them, and its stages if it is a net that has some."""

    framework: Framework = "jax"
    classes: tuple[Any, ...] | None = None
    fixed = True

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None,
        output: str | int | None,
        convert: Callable[[Any], Any],
    ) -> None:
        self.name = callable_name(model)
        self._model, self._convert, self.notes = model, convert, []
        tried = inputs.spread(3).convert(convert)
        self._rows = _Rows(model, tried, output)
        self.notes += [self._rows.note] if self._rows.note else []
        place = self._rows.place
        self.function = model if not place else (lambda *args, **kwargs: at(model(*args, **kwargs), place))
        readers = dict(layers) if isinstance(layers, Mapping) else {}
        self._readers = {name: _Rows(reader, tried, None) for name, reader in readers.items()}
        self._net = None if readers else self._stages(tried)
        own = () if self._net is None else tuple(name for name, _ in self._net.stages)
        self.known = tuple(self._readers) if readers else own
        self.layers = chosen_layers(None if isinstance(layers, Mapping) else layers, self.known, self.known)

    def read(
        self, inputs: Inputs, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Outputs and stages of some rows."""
        with user_code(stage):
            outputs, found = self._both(inputs.convert(self._convert), layers)
        for array in (outputs, *found.values()):
            if array.shape[0] != inputs.rows:
                raise rows_error(array, inputs.rows)
        return to_numpy(outputs), {name: to_numpy(found[name]) for name in layers}

    def slopes(
        self, inputs: Inputs, column: Column, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """In forward mode."""
        converted = inputs.convert(self._convert)
        own = jnp.asarray(inputs.direction(column), dtype=converted.parts[column.part].dtype)
        along = [own if place == column.part else None for place in range(len(inputs.parts))]
        try:
            _, (outputs, found) = eqx.filter_jvp(
                lambda parts: self._both(replace(converted, parts=tuple(parts)), layers),
                (list(converted.parts),),
                (along,),
            )
        except (TypeError, ValueError, NotImplementedError) as error:  # rules for reverse mode only
            raise NoDerivativeError from error
        return to_numpy(outputs), {name: to_numpy(found[name]) for name in layers}

    def _both(self, inputs: Inputs, layers: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Outputs and layers of rows that are arrays of JAX."""
        staged_names = tuple(name for name in layers if name not in self._readers)
        found = {name: self._readers[name](inputs) for name in layers if name in self._readers}
        if not staged_names:
            return self._rows(inputs), found
        last = self.known[-1]  # the outputs, as was checked
        found |= _traced(self._net, inputs.parts[0], tuple(dict.fromkeys((*staged_names, last))))
        return found[last], {name: found[name] for name in layers}

    def steady(self) -> AbstractContextManager[None]:
        """`function` is in inference mode already."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """Matrices of the links between stages, if all weights are in them."""
        if self._net is None:
            return f"{self.name} has no stages"
        found = links(self._net)
        if not found:
            return "it has no dense layers or convolutions"
        if len(weighted_layers(self._net)) != len(found) or _loose_weights(self._net):
            return "it has weights that are no dense layer or convolution between two stages"
        matrices = weight_matrices(self._net)
        try:
            layer_weights(matrices)
        except InputError as error:
            return str(error)
        return {link.target: matrix for link, matrix in zip(found, matrices, strict=True)}

    def _stages(self, tried: Inputs) -> Any:
        """The model as a net with stages, if it is one and they end in its outputs."""
        model = self._model
        if not hasattr(model, "stages") and not isinstance(model, eqx.nn.MLP | eqx.nn.Sequential):
            return None
        if len(tried.parts) > 1 or self._rows.place:
            return None
        try:
            net = staged(model)
            names = tuple(name for name, _ in net.stages)
            found = to_numpy(_traced(net, tried.parts[0], names)[names[-1]])
        except Exception as error:  # layers that stages cannot hold
            words = str(error).splitlines()[0] if str(error) else type(error).__name__
            self.notes.append(f"layers of {self.name} cannot be read ({words})")
            return None
        expected = to_numpy(self._rows(tried))
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-3, atol=1e-5):
            self.notes.append(f"stages of {self.name} do not end in its outputs; layers cannot be read")
            return None
        return net


class _Rows:
    """A traceable function of rows, mapped over them if it takes one example."""

    def __init__(self, function: Any, tried: Inputs, output: str | int | None) -> None:
        self.function, self.by_rows = function, True
        self.note: str | None = None
        try:
            results = {rows: _shape(function, tried.take(slice(rows))) for rows in (2, 3)}
            self.place, self.note = choose(results, output)
        except Exception as error:  # of tracing, of the user's code, or another number of rows
            if isinstance(error, InputError) and error.field == "output":
                raise
            self.by_rows = False
            try:
                single = _shape(function, tried.row(0))
                self.place, self.note = choose({1: single}, output, check=False)
            except Exception as single_error:
                raise UntraceableError from single_error
        else:
            self._compare(tried)

    def __call__(self, inputs: Inputs) -> Any:
        return _outputs(self.function, inputs.parts, inputs.names, self.by_rows, self.place)

    def _compare(self, tried: Inputs) -> None:
        try:
            mapped = _outputs(self.function, tried.parts, tried.names, False, self.place)
        except Exception:  # it takes rows alone
            return
        together = to_numpy(self(tried))
        if together.shape == mapped.shape and not np.allclose(
            together, to_numpy(mapped), rtol=1e-3, atol=1e-5, equal_nan=True
        ):
            self.note = " ".join(filter(None, [self.note, OTHER]))


@eqx.filter_jit
def _outputs(
    function: Any, parts: tuple[Any, ...], names: tuple[str, ...] | None, by_rows: bool, place: Place
) -> Any:
    def one(*parts: Any) -> Any:
        return jnp.asarray(at(Inputs(parts, names, 1).feed(function), place))

    return one(*parts) if by_rows else jax.vmap(one)(*parts)


@eqx.filter_jit
def _traced(net: Any, x: Any, names: tuple[str, ...]) -> dict[str, Any]:
    _, stages = trace(net, x)
    return {name: first_array(stages[name]) for name in names}


def _shape(function: Any, inputs: Inputs) -> Any:
    return eqx.filter_eval_shape(lambda parts: Inputs(parts, inputs.names, 1).feed(function), inputs.parts)


def _steady(model: Any) -> tuple[Any, list[str]]:
    """The model in inference mode, and a note if it was not."""
    if not isinstance(model, eqx.Module):
        return model, []
    parts = jax.tree.leaves(model, is_leaf=lambda node: hasattr(node, "inference"))
    moving = [type(part).__name__ for part in parts if getattr(part, "inference", None) is False]
    if not moving:
        return model, []
    kinds = ", ".join(dict.fromkeys(moving))
    note = f"the model ({kinds}) was in training mode; a copy in inference mode is evaluated"
    return eqx.nn.inference_mode(model), [note]


def _converter(model: Any) -> Callable[[Any], Any]:
    """Arrays of JAX in the precision of the model's own; whole numbers stay what they are."""
    own = [leaf for leaf in jax.tree.leaves(model) if eqx.is_inexact_array(leaf)]

    def convert(part: Any) -> Any:
        if not isinstance(part, jax.Array):
            part = to_numpy(part)
            if part.dtype.kind not in "fiubc":
                raise InputError("inputs", f"values of type {part.dtype.name}", "numbers")
        array = jnp.asarray(part)
        return array.astype(own[0].dtype) if own and jnp.issubdtype(array.dtype, jnp.floating) else array

    return convert


def _loose_weights(net: Any) -> bool:
    """Whether trained arrays of two or more axes are outside of all dense layers and convolutions."""

    def count(tree: Any) -> int:
        kept = jax.tree.leaves(eqx.filter(tree, trainable(tree)))
        return sum(leaf.size for leaf in kept if leaf.ndim >= 2)

    return count(net) != count(weighted_layers(net))
