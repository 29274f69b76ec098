"""The authors' models: every parameter count, and a training step of each that is traced but not run."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from recombine.errors import InputError
from recombine.nets import parameter_count, trace
from recombine.parts import Part
from recombine.studies.interaction_asymmetry.presets import (
    PRESETS,
    authors_alpha,
    authors_net,
    authors_rate,
    authors_recipe,
)
from recombine.studies.interaction_asymmetry.published_models import PARAMETERS


def shapes_of(net: Part) -> Any:
    return eqx.filter_eval_shape(net, key=jax.random.key(0))


@pytest.mark.parametrize("model", PARAMETERS, ids=lambda model: " ".join(map(str, model)))
def test_parameter_counts(model: tuple[str, str, str, bool]) -> None:
    dataset, encoder, decoder, variational = model
    made = authors_net(dataset, encoder=encoder, decoder=decoder, variational=variational)  # type: ignore[arg-type]
    stages = dict(shapes_of(made).stages)
    assert (parameter_count(stages["encoding"]), parameter_count(stages["decoder"])) == PARAMETERS[model]


def gradient_of(net: Part, dataset: str, **penalties: bool) -> tuple[Any, Any]:
    """Shapes of the net and of the gradient of its whole objective, for two images."""
    made, recipe = shapes_of(net), authors_recipe(dataset, **penalties)
    x = jax.ShapeDtypeStruct((2, *PRESETS[dataset].shape), jnp.float32)

    def objective(net: Any, x: jax.Array) -> jax.Array:
        output, stages = trace(net, x, key=jax.random.key(0))
        total = recipe.loss(output, x).mean()
        for penalty in recipe.penalties:
            total = total + penalty.weight * penalty.of(net, stages, (x, x))
        return total

    return made, eqx.filter_eval_shape(eqx.filter_grad(objective), made, x)


@pytest.mark.parametrize(
    ("dataset", "sampled"), [("sprites", None), ("sprites", 64), ("clevr6", None), ("clevrtex", None)]
)
def test_every_preset_has_a_gradient(dataset: str, sampled: int | None) -> None:
    made, gradient = gradient_of(authors_net(dataset, sampled=sampled), dataset)
    assert parameter_count(gradient) == parameter_count(made)


def test_the_baseline_has_a_gradient() -> None:
    net = authors_net("sprites", encoder="slot attention", decoder="broadcast", variational=False)
    made, gradient = gradient_of(net, "sprites", alpha=False, beta=False)
    assert parameter_count(gradient) == parameter_count(made)


def test_the_balance_of_the_objective() -> None:
    """Error weight, capacity, and interaction in head-mean units (144 times the authors' coefficient)."""
    both, none = authors_recipe("sprites"), authors_recipe("sprites", alpha=False, beta=False)
    assert both.loss["weight"] == 5.0  # type: ignore[index]
    assert [penalty.weight for penalty in both.penalties] == pytest.approx([0.05, 7.2])
    assert [penalty.warmup for penalty in both.penalties] == [0, 25_000]
    assert none.loss["weight"] == 1.0  # type: ignore[index]
    assert none.penalties == ()
    assert authors_recipe("clevrtex").clip_norm == 1.0


def test_the_slip_at_step_30000() -> None:
    before, slip, after = (authors_rate("sprites", step) for step in (29_999, 30_000, 30_001))
    assert before == 5e-4
    assert slip == pytest.approx(5e-4 * 0.1**0.04)
    assert after == pytest.approx(1e-4, rel=1e-4)
    assert authors_alpha("sprites", 12_500) == 0.025
    assert authors_alpha("sprites", 400_000) == 0.05


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="dataset: got 'clevr', expected one of sprites, clevr6, clevrtex"):
        authors_net("clevr")
    with pytest.raises(InputError, match="model: got"):
        authors_net("sprites", encoder="capsules")  # type: ignore[arg-type]
