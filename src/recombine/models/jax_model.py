"""Equinox modules and JAX functions: compiled once per size of a piece, with the stages of nets as layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.errors import InputError
from recombine.models.callable_model import CallableBackend, callable_name
from recombine.models.model import TRYING, Activities, Backend, Framework, Layers, chosen_layers
from recombine.models.model_errors import ModelError, NoDerivativeError, UntraceableError, user_code
from recombine.models.model_inputs import InputColumn, Inputs
from recombine.models.model_outputs import OutputPath, at, first_array, rows_error, to_numpy
from recombine.models.row_function import DISAGREES, calling_convention
from recombine.nets import staged, trace, weight_matrices
from recombine.nets.connections import links, weighted_layers
from recombine.nets.stages import trainable


def jax_backend(
    model: Any,
    inputs: Inputs,
    layers: Layers,
    output: str | int | None,
) -> Backend:
    """The compiled adapter, or a plain one where JAX cannot trace the function."""
    evaluated, notes = _in_inference_mode(model)
    convert = _converter(evaluated)
    try:
        compiled = JaxBackend(evaluated, inputs, layers, output, convert)
    except UntraceableError:
        compiled = None
    if compiled is not None:
        compiled.notes[:0] = notes
        return compiled
    plain = CallableBackend(evaluated, inputs, layers, output, framework="jax", convert=convert)
    plain.notes[:0] = [*notes, "JAX cannot trace the model; it is run without being compiled"]
    return plain


class JaxBackend:
    """A function of batches, or of one example mapped over them; its layers are the stages of a net that has some."""

    framework: Framework = "jax"
    classes: tuple[Any, ...] | None = None
    fixed = True
    takes_tensors = False

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        layers: Layers,
        output: str | int | None,
        convert: Callable[[Any], Any],
    ) -> None:
        self.name = callable_name(model)
        self._model, self._convert, self.notes = model, convert, []
        tried = inputs.spread(3).convert(convert)
        self._rows = _Rows(model, tried, output)
        self.notes += [self._rows.note] if self._rows.note else []
        self.by_rows, path = self._rows.by_rows, self._rows.path
        self.function = model if not path else (lambda *args, **named: at(model(*args, **named), path))
        readers = dict(layers) if isinstance(layers, Mapping) else {}
        self._readers = {name: _Rows(reader, tried, None) for name, reader in readers.items()}
        self._net = None if readers else self._stages(tried)
        own = () if self._net is None else tuple(name for name, _ in self._net.stages)
        self.known = tuple(self._readers) if readers else own
        self.layers = chosen_layers(None if isinstance(layers, Mapping) else layers, self.known, self.known)

    def read(self, inputs: Inputs, layers: Sequence[str], stage: str) -> tuple[np.ndarray, Activities]:
        """Outputs and stages of some rows."""
        with user_code(stage):
            outputs, activities = self._both(inputs.convert(self._convert), layers)
        for array in (outputs, *activities.values()):
            if array.shape[0] != inputs.rows:
                raise rows_error(array, inputs.rows)
        return to_numpy(outputs), {name: to_numpy(activities[name]) for name in layers}

    def slopes(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, Activities]:
        """In forward mode."""
        converted = inputs.convert(self._convert)
        own = jnp.asarray(inputs.direction(column), dtype=converted.parts[column.part].dtype)
        along = [own if number == column.part else None for number in range(len(inputs.parts))]
        try:
            _, (outputs, slopes) = eqx.filter_jvp(
                lambda parts: self._both(replace(converted, parts=tuple(parts)), layers),
                (list(converted.parts),),
                (along,),
            )
        except (TypeError, ValueError, NotImplementedError) as error:  # rules for reverse mode only
            raise NoDerivativeError from error
        return to_numpy(outputs), {name: to_numpy(slopes[name]) for name in layers}

    def _both(self, inputs: Inputs, layers: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Outputs and layers of rows that are arrays of JAX."""
        staged_names = tuple(name for name in layers if name not in self._readers)
        activities = {name: self._readers[name](inputs) for name in layers if name in self._readers}
        if not staged_names:
            return self._rows(inputs), activities
        last = self.known[-1]  # the outputs: `_stages` has checked that
        activities |= _traced(self._net, inputs.parts[0], tuple(dict.fromkeys((*staged_names, last))))
        return activities[last], {name: activities[name] for name in layers}

    def eval_mode(self) -> AbstractContextManager[None]:
        """`function` is in inference mode already."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """Matrices of the links between stages, if all weights are in them."""
        if self._net is None:
            return f"{self.name} has no stages"
        between = links(self._net)
        if not between:
            return "it has no dense layers or convolutions"
        if len(weighted_layers(self._net)) != len(between) or _loose_weights(self._net):
            return "it has weights outside the dense layers and convolutions between two stages"
        matrices = weight_matrices(self._net)
        return {link.target: matrix for link, matrix in zip(between, matrices, strict=True)}

    def _stages(self, tried: Inputs) -> Any:
        """The model as a net with stages, if it is one and they end in its outputs."""
        model = self._model
        if not hasattr(model, "stages") and not isinstance(model, eqx.nn.MLP | eqx.nn.Sequential):
            return None
        if len(tried.parts) > 1 or self._rows.path:
            return None
        try:
            net = staged(model)
            names = tuple(name for name, _ in net.stages)
            last = to_numpy(_traced(net, tried.parts[0], names)[names[-1]])
        except Exception as error:  # layers that stages cannot hold
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self.notes.append(f"layers of {self.name} cannot be read ({reason})")
            return None
        expected = to_numpy(self._rows(tried))
        if last.shape != expected.shape or not np.allclose(last, expected, rtol=1e-3, atol=1e-5):
            self.notes.append(f"stages of {self.name} do not end in its outputs; layers cannot be read")
            return None
        return net


class _Rows:
    """A traceable function of rows, mapped over them if it takes one example."""

    def __init__(self, function: Any, tried: Inputs, output: str | int | None) -> None:
        self.function = function

        def shapes(inputs: Inputs) -> Any:
            with user_code(TRYING):
                return eqx.filter_eval_shape(
                    lambda parts: replace(inputs, parts=parts).feed(function), inputs.parts
                )

        try:
            convention = calling_convention(shapes, tried, output, strict=False)
        except ModelError as error:
            raise UntraceableError(f"JAX cannot trace it ({error.words})") from error
        except InputError as error:
            if error.field == "output":
                raise
            raise UntraceableError(str(error)) from error
        self.by_rows, self.path, self.note = convention.by_rows, convention.path, convention.note
        if self.by_rows:
            self._compare(tried)

    def __call__(self, inputs: Inputs) -> Any:
        return _outputs(self.function, inputs.parts, inputs.names, self.by_rows, self.path)

    def _compare(self, tried: Inputs) -> None:
        try:
            mapped = _outputs(self.function, tried.parts, tried.names, False, self.path)
        except Exception:  # it takes rows alone
            return
        together = to_numpy(self(tried))
        if together.shape == mapped.shape and not np.allclose(
            together, to_numpy(mapped), rtol=1e-3, atol=1e-5, equal_nan=True
        ):
            self.note = " ".join(filter(None, [self.note, DISAGREES]))


@eqx.filter_jit
def _outputs(
    function: Any, parts: tuple[Any, ...], names: tuple[str, ...] | None, by_rows: bool, path: OutputPath
) -> Any:
    def one(*parts: Any) -> Any:
        return jnp.asarray(at(Inputs(parts, names, 1).feed(function), path))

    return one(*parts) if by_rows else jax.vmap(one)(*parts)


@eqx.filter_jit
def _traced(net: Any, x: Any, names: tuple[str, ...]) -> dict[str, Any]:
    _, stages = trace(net, x)
    return {name: first_array(stages[name]) for name in names}


def _in_inference_mode(model: Any) -> tuple[Any, list[str]]:
    """The model in inference mode, and a note if it was not."""
    if not isinstance(model, eqx.Module):
        return model, []
    parts = jax.tree.leaves(model, is_leaf=lambda node: hasattr(node, "inference"))
    training = [type(part).__name__ for part in parts if getattr(part, "inference", None) is False]
    if not training:
        return model, []
    kinds = ", ".join(dict.fromkeys(training))
    note = f"the model ({kinds}) was in training mode; a copy in inference mode is evaluated"
    return eqx.nn.inference_mode(model), [note]


def _converter(model: Any) -> Callable[[Any], Any]:
    """From arrays of any kind to JAX arrays in the precision of the model's own; whole numbers stay whole."""
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
