"""Every parameter count of the authors' nets. No weight is drawn for it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import pytest

from recombine.nets import (
    cnn_decoder,
    cnn_encoder,
    mlp,
    parameter_count,
    pixel_transformer,
    render_net,
    rotation_decoder,
    spatial_mlp,
)
from recombine.parts import Part


def cnn(inputs: int, width: int, depth: int, size: int = 28) -> Part:
    return Part(cnn_decoder, inputs=inputs, width=width, depth=depth, size=size)


def perceptron(inputs: int, width: int, depth: int, normalise: bool = False) -> Part:
    return Part(mlp, inputs=inputs, width=width, depth=depth, outputs=(28, 28), normalise=normalise)


TRAINED = [
    (cnn(56, 64, 2), 307457),
    (cnn(56, 64, 3), 344385),
    (cnn(56, 64, 4), 381313),
    (cnn(56, 64, 5), 418241),
    (cnn(56, 64, 6), 455169),
    (cnn(56, 64, 7), 492097),
    (cnn(56, 64, 8), 529025),
    (cnn(56, 64, 9), 565953),
    (cnn(56, 64, 10), 602881),
    (cnn(2, 64, 2), 138113),
    (cnn(2, 64, 3), 175041),
    (cnn(2, 64, 4), 211969),
    (cnn(2, 64, 5), 248897),
    (cnn(2, 64, 6), 285825),
    (cnn(2, 64, 7), 322753),
    (cnn(2, 64, 8), 359681),
    (cnn(2, 64, 9), 396609),
    (cnn(2, 64, 10), 433537),
    (cnn(80, 64, 8), 604289),
    (cnn(2, 128, 8), 1423873),
    (cnn(2, 128, 10), 1719041),
    (cnn(56, 256, 10), 7523329),
    (cnn(2, 256, 10), 6845953),
    (perceptron(56, 256, 3), 347664),
    (perceptron(56, 256, 4), 413456),
    (perceptron(56, 256, 5), 479248),
    (perceptron(56, 256, 6), 545040),
    (perceptron(56, 256, 7), 610832),
    (perceptron(2, 128, 3), 134544),
    (perceptron(2, 128, 4), 151056),
    (perceptron(2, 128, 5), 167568),
    (perceptron(2, 128, 6), 184080),
    (perceptron(2, 128, 7), 200592),
    (perceptron(56, 1024, 10, normalise=True), 10328848),
    (perceptron(2, 1024, 10, normalise=True), 10273552),
    (perceptron(2, 4096, 5, normalise=True), 70390544),
    (Part(pixel_transformer, inputs=56, depth=2), 1193473),
    (Part(pixel_transformer, inputs=56, depth=3), 1786497),
    (Part(pixel_transformer, inputs=56, depth=4), 2379521),
    (Part(pixel_transformer, inputs=56, depth=5), 2972545),
    (Part(spatial_mlp, inputs=56, depth=2), 146435),
    (Part(spatial_mlp, inputs=56, depth=4), 278021),
    (Part(render_net, levels=(32, 32), hidden=2), 133218),
    (Part(cnn_encoder, outputs=56), 362168),
    (Part(cnn_encoder, outputs=2), 355202),
    (Part(rotation_decoder, inputs=1), 406913),
    (Part(rotation_decoder, inputs=2), 413185),
    (Part(rotation_decoder, inputs=2, deep=True), 1240897),
    (cnn(48, 128, 8, size=24), 1712385),
    (cnn(56, 128, 8, size=28), 1762561),
    (cnn(64, 128, 8, size=32), 1927425),
    (cnn(72, 128, 8, size=36), 1977601),
    (cnn(80, 128, 8, size=40), 2027777),
    (cnn(2, 128, 8, size=24), 1423873),
    (cnn(2, 128, 8, size=28), 1423873),
    (cnn(2, 128, 8, size=32), 1538561),
    (cnn(2, 128, 8, size=36), 1538561),
    (cnn(2, 128, 8, size=40), 1538561),
]

WITH_TABLES = [
    (Part(pixel_transformer, inputs=56, depth=2), 1293825),
    (Part(pixel_transformer, inputs=56, depth=3), 1886849),
    (Part(pixel_transformer, inputs=56, depth=4), 2479873),
    (Part(pixel_transformer, inputs=56, depth=5), 3072897),
    (Part(spatial_mlp, inputs=56, depth=2), 347139),
    (Part(spatial_mlp, inputs=56, depth=4), 478725),
]


def shapes_of(net: Part) -> Any:
    return eqx.filter_eval_shape(lambda key: net(key=key), jax.random.key(0))


def label(value: Any) -> str | None:
    return f"{value.name.partition(':')[2]} {dict(value.settings)}" if isinstance(value, Part) else None


@pytest.mark.parametrize(("net", "published"), TRAINED, ids=label)
def test_trained_parameters(net: Part, published: int) -> None:
    assert parameter_count(shapes_of(net)) == published


@pytest.mark.parametrize(("net", "published"), WITH_TABLES, ids=label)
def test_parameters_with_position_tables(net: Part, published: int) -> None:
    assert parameter_count(shapes_of(net), buffers=True) == published


def test_shapes_and_arrays_count_the_same() -> None:
    net = Part(spatial_mlp, inputs=4, depth=1, size=4, width=8)
    made = net(key=jax.random.key(0))
    for buffers in (False, True):
        assert parameter_count(shapes_of(net), buffers=buffers) == parameter_count(made, buffers=buffers)
