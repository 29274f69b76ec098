"""Fitted estimators of scikit-learn, or anything else with `predict`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from recombine.errors import InputError
from recombine.models.model import TRYING, Activities, Framework, Layers, chosen_layers
from recombine.models.model_errors import NoDerivativeError, user_code
from recombine.models.model_inputs import InputColumn, Inputs
from recombine.models.model_outputs import at, choose, rows_error, to_numpy
from recombine.models.row_function import RowFunction

_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda x: x,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "exp": np.exp,
    "softmax": lambda x: softmax(x, axis=1),
}


class SklearnBackend:
    """An estimator: probabilities of a classifier (or labels), predictions of a regressor."""

    framework: Framework = "sklearn"
    fixed = takes_tensors = False
    by_rows = True

    def __init__(
        self,
        model: Any,
        inputs: Inputs,
        layers: Layers,
        output: str | int | None,
    ) -> None:
        if len(inputs.parts) > 1:
            raise InputError(
                "inputs", f"{len(inputs.parts)} arrays", "one, or a data frame, for an estimator"
            )
        self.name, self.notes = type(model).__name__, []
        _check_fitted(model)
        inner = getattr(model, "best_estimator_", model)
        if inner is not model:
            self.notes.append(f"the best estimator of the {self.name} is read: {type(inner).__name__}")
        method = next(name for name in _methods(model) if hasattr(model, name))
        self.function = getattr(model, method)
        self.notes.append(f"outputs are those of {method}")
        tried = inputs.spread(3).convert(_to_host)
        with user_code(TRYING):
            results = {rows: tried.take(slice(rows)).feed(self.function) for rows in (2, 3)}
        self._path, note = choose(results, output)
        self.notes += [note] if note else []
        self.classes = _classes(model, self._path)
        self._steps = _steps(inner)
        last = inner.steps[-1][1] if hasattr(inner, "steps") else inner
        outputs = to_numpy(at(results[3], self._path))
        self._mlp = _Perceptron(last, taken=tuple(name for name, _ in self._steps))
        if self._mlp.names:
            last_inputs, _ = self._transformed(tried, TRYING)
            if not self._mlp.agrees(last_inputs, outputs):
                self._mlp.names = ()
                self.notes.append(f"hidden layers of the {type(last).__name__} could not be rebuilt")
        readers = layers if isinstance(layers, Mapping) else {}
        self._readers = {name: RowFunction(reader, tried) for name, reader in readers.items()}
        own = (*(name for name, _ in self._steps), *self._mlp.names)
        self.known = tuple(self._readers) if readers else own
        self.layers = chosen_layers(None if isinstance(layers, Mapping) else layers, self.known, self.known)

    def read(self, inputs: Inputs, layers: Sequence[str], stage: str) -> tuple[np.ndarray, Activities]:
        """Outputs and layers of some rows."""
        inputs = inputs.convert(_to_host)
        with user_code(stage):
            result = inputs.feed(self.function)
        outputs = to_numpy(at(result, self._path))
        if len(outputs) != inputs.rows:
            raise rows_error(outputs, inputs.rows)
        activities = {name: self._readers[name](inputs, stage) for name in layers if name in self._readers}
        if len(activities) < len(layers):
            last, steps = self._transformed(inputs, stage)
            hidden = self._mlp.hidden(last) if self._mlp.names else {}
            activities |= {name: (steps | hidden)[name] for name in layers if name not in activities}
        return outputs, activities

    def _transformed(self, inputs: Inputs, stage: str) -> tuple[Any, dict[str, np.ndarray]]:
        """The input of a pipeline's last step, and the output of every step before it."""
        rows, outputs = inputs.parts[0], {}
        for name, step in self._steps:
            with user_code(stage):
                rows = step.transform(rows)
            outputs[name] = to_numpy(rows)
        return rows, outputs

    def slopes(
        self, inputs: Inputs, column: InputColumn, layers: Sequence[str], stage: str
    ) -> tuple[np.ndarray, Activities]:
        """Estimators have no automatic derivatives."""
        raise NoDerivativeError

    def eval_mode(self) -> AbstractContextManager[None]:
        """Estimators have no modes."""
        return nullcontext()

    def weights(self) -> dict[str, np.ndarray] | str:
        """Those of a multi-layer perceptron."""
        return self._mlp.weights() or f"{self.name} is not a multi-layer perceptron"


class _Perceptron:
    """An `MLPClassifier` or `MLPRegressor` as layers; one without names if it is something else."""

    def __init__(self, estimator: Any, taken: Sequence[str]) -> None:
        self._estimator = estimator
        known = all(hasattr(estimator, name) for name in ("coefs_", "intercepts_", "out_activation_"))
        count = len(estimator.coefs_) - 1 if known else 0
        self._prefix = "" if not {f"hidden{n}" for n in range(count)} & set(taken) else "mlp."
        self.names = tuple(f"{self._prefix}hidden{number}" for number in range(count))

    def hidden(self, rows: Any) -> dict[str, np.ndarray]:
        return dict(zip(self.names, self._layers(rows), strict=False))

    def agrees(self, rows: Any, outputs: np.ndarray) -> bool:
        """Whether the layers end in the estimator's own outputs."""
        if not {self._estimator.activation, self._estimator.out_activation_} <= set(_ACTIVATIONS):
            return False
        last = self._layers(rows)[-1]
        if last.shape[1] == 1 and outputs.ndim == 2 and outputs.shape[1] == 2:
            last = np.concatenate([1 - last, last], axis=1)
        if outputs.dtype.kind not in "fiu" or last.size != outputs.size:
            return False
        return bool(np.allclose(last.reshape(outputs.shape), outputs, rtol=1e-4, atol=1e-6))

    def weights(self) -> dict[str, np.ndarray]:
        if not hasattr(self._estimator, "coefs_"):
            return {}
        last = len(self._estimator.coefs_) - 1
        return {
            "output" if number == last else f"{self._prefix}hidden{number}": np.array(
                matrix, dtype=np.float64
            )
            for number, matrix in enumerate(self._estimator.coefs_)
        }

    def _layers(self, rows: Any) -> list[np.ndarray]:
        net, layers = self._estimator, []
        activity = to_numpy(rows)
        for number, (matrix, bias) in enumerate(zip(net.coefs_, net.intercepts_, strict=True)):
            kind = net.out_activation_ if number == len(net.coefs_) - 1 else net.activation
            activity = _ACTIVATIONS[kind](activity @ matrix + bias)
            layers.append(activity)
        return layers


def _methods(model: Any) -> tuple[str, ...]:
    """Methods in order of preference; only a classifier has classes. (Only `predict` knows the decision threshold.)"""
    classifies = getattr(model, "classes_", None) is not None
    return ("predict_proba", "predict") if classifies else ("predict",)


def _steps(model: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline before the last, up to one that does not transform."""
    steps = []
    for name, step in (model.steps if hasattr(model, "steps") else [])[:-1]:
        if step is None or isinstance(step, str):  # passed through
            continue
        if not hasattr(step, "transform"):
            break
        steps.append((name, step))
    return steps


def _classes(model: Any, path: tuple[str | int, ...]) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):  # one array for every output
        classes = classes[path[0]] if path and isinstance(path[0], int) else None
    return None if classes is None else tuple(np.asarray(classes).tolist())


def _check_fitted(model: Any) -> None:
    sklearn = sys.modules.get("sklearn.base")
    if isinstance(model, type):
        raise InputError("model", f"the class {model.__name__}", "a fitted estimator of it")
    if sklearn is None or not isinstance(model, sklearn.BaseEstimator):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            "model", f"a {type(model).__name__} that is not fitted", "a fitted one: call fit first"
        ) from None


def _to_host(part: Any) -> Any:
    """Tensors and JAX arrays as NumPy arrays; data frames and sparse matrices as they are."""
    return to_numpy(part) if hasattr(part, "detach") or type(part).__module__.startswith("jax") else part
