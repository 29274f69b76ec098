"""Networks that read images compute what PyTorch computes with the same weights."""

from __future__ import annotations

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import nn

from recombine.errors import InputError
from recombine.nets import CropAndFlip, image_convnet, image_resnet, image_vit, observe, parameter_count
from recombine.nets.image_readers import MaxPool

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
RNG = np.random.default_rng(0)


def random_images(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def assert_same(net: Any, module: nn.Module, x: np.ndarray, *, train: bool) -> None:
    """Compares outputs, in training mode with the running statistics that are left behind."""
    peers.load_weights(module, net)
    module.train(train)
    with torch.no_grad():
        expected = module(torch.tensor(x)).numpy()
    got, _, after = eqx.filter_jit(observe)(net, jnp.asarray(x), key=KEY if train else None)
    np.testing.assert_allclose(got, expected, atol=3e-5 * np.abs(expected).max(), rtol=0)
    running = [m.running_var.numpy() for m in module.modules() if isinstance(m, nn.BatchNorm2d)]
    mine = jax.tree.leaves(after, is_leaf=lambda node: hasattr(node, "variance"))
    mine = [np.asarray(node.variance.value) for node in mine if hasattr(node, "variance")]
    for one, other in zip(mine, running, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3)


class LastAxis(nn.Module):
    """Channels to the last axis (or back), as the nets here have them."""

    def __init__(self, back: bool) -> None:
        super().__init__()
        self.axes = (0, 3, 1, 2) if back else (0, 2, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(*self.axes)


@pytest.mark.parametrize("train", [False, True])
def test_convnet(train: bool) -> None:
    net = image_convnet(size=(13, 16), channels=2, filters=(3, 5), kernel=5, dense=(7, 6), key=KEY)
    maps = [
        nn.Conv2d(2, 3, 5),
        nn.ReLU(),
        nn.BatchNorm2d(3),
        nn.Conv2d(3, 5, 5),
        nn.ReLU(),
        nn.BatchNorm2d(5),
    ]
    flat = [nn.MaxPool2d(2), LastAxis(back=False), nn.Flatten()]
    dense = [nn.Linear(40, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 1)]
    assert_same(
        net,
        nn.Sequential(LastAxis(back=True), *maps, *flat, *dense),
        random_images(4, 13, 16, 2),
        train=train,
    )


class Block(nn.Module):
    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__()
        first, second = (
            nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False),
            nn.Conv2d(c_out, c_out, 3, 1, 1, bias=False),
        )
        self.path = nn.Sequential(first, nn.BatchNorm2d(c_out), nn.ReLU(), second, nn.BatchNorm2d(c_out))
        bridge = [nn.Conv2d(c_in, c_out, 1, stride, bias=False), nn.BatchNorm2d(c_out)]
        self.shortcut = nn.Sequential(*(bridge if stride > 1 or c_in != c_out else []))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.path(x) + self.shortcut(x))


@pytest.mark.parametrize("train", [False, True])
def test_resnet(train: bool) -> None:
    net = image_resnet(channels=2, widths=(3, 4), key=KEY)
    stem = [nn.Conv2d(2, 3, 3, 1, 1, bias=False), nn.BatchNorm2d(3), nn.ReLU()]
    blocks = [Block(3, 3, 1), Block(3, 3, 1), Block(3, 4, 2), Block(4, 4, 1)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 1)]
    module = nn.Sequential(LastAxis(back=True), *stem, *blocks, *head)
    assert_same(net, module, random_images(3, 8, 8, 2), train=train)


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, head: int, hidden: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mix, self.merge = nn.Linear(width, 3 * heads * head, bias=False), nn.Linear(heads * head, width)
        self.expand, self.contract = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.mix(self.norms[0](x)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        attended = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.merge(attended)
        return x + self.contract(nn.functional.gelu(self.expand(self.norms[1](x))))


class Transformer(nn.Module):
    def __init__(self, net: Any) -> None:
        super().__init__()
        tokens = net.layers[0].layers[0]
        self.first, self.positions = (torch.tensor(np.asarray(a)) for a in (tokens.first, tokens.positions))
        self.project = nn.Linear(2 * 2 * 3, 8)
        self.layers = nn.Sequential(Layer(8, 2, 5, 6), Layer(8, 2, 5, 6))
        self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        patches = x.unfold(1, 2, 2).unfold(2, 2, 2).permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)
        first = self.first.expand(len(x), 1, -1)
        x = torch.cat([first, self.project(patches)], dim=1) + self.positions
        return self.head(self.layers(x)[:, 0])


def test_vision_transformer() -> None:
    settings = {"patch": 2, "width": 8, "depth": 2, "heads": 2, "head": 5, "hidden": 6}
    net = image_vit(size=(4, 6), channels=3, **settings, key=KEY)
    assert_same(net, Transformer(net), random_images(3, 4, 6, 3), train=False)


@pytest.mark.parametrize(("width", "features"), [(28, 2304), (48, 6144)])
def test_published_sizes_of_the_convnet(width: int, features: int) -> None:
    net = eqx.filter_eval_shape(image_convnet, size=(28, width), channels=2, key=jax.random.key(0))
    dense = itertools.pairwise((features, 512, 1024, 1))
    maps = [(2, 32), (32, 32), (32, 64), (64, 64)]
    expected = sum(a * b + b for a, b in dense) + sum(25 * a * b + 3 * b for a, b in maps)
    assert parameter_count(net) == expected


def test_published_sizes_of_the_others() -> None:
    resnet = eqx.filter_eval_shape(image_resnet, channels=6, key=jax.random.key(0))
    blocks = [(16, 16), (16, 16), (16, 32), (32, 32), (32, 64), (64, 64), (64, 128), (128, 128)]
    inside = sum(9 * a * b + 9 * b * b + 4 * b + (a * b + 2 * b if a != b else 0) for a, b in blocks)
    assert parameter_count(resnet) == 9 * 6 * 16 + 2 * 16 + inside + 129
    vit = eqx.filter_eval_shape(image_vit, channels=6, key=jax.random.key(0))
    tokens = (8 * 8 * 6 + 1) * 256 + 18 * 256
    layer = 4 * 256 + 256 * 3 * 384 + 385 * 256 + 2 * 257 * 256
    assert parameter_count(vit) == tokens + 4 * layer + 2 * 256 + 257


def test_the_gradient_of_pooling_goes_to_the_first_of_equal_values() -> None:
    """Many values are equal after a ReLU. An odd last row and column have no gradient."""
    x = RNG.integers(0, 3, size=(2, 5, 7, 3)).astype(np.float32)
    theirs = torch.tensor(x.transpose(0, 3, 1, 2), requires_grad=True)
    pooled = nn.functional.max_pool2d(theirs, 2)
    (pooled**2).sum().backward()
    ours = MaxPool()(jnp.asarray(x))
    np.testing.assert_array_equal(ours, pooled.detach().numpy().transpose(0, 2, 3, 1))
    gradient = jax.grad(lambda x: (MaxPool()(x) ** 2).sum())(jnp.asarray(x))
    np.testing.assert_array_equal(gradient, theirs.grad.numpy().transpose(0, 2, 3, 1))


def test_images_are_moved_and_mirrored_in_training_only() -> None:
    x = jnp.arange(2 * 6 * 6 * 4, dtype=jnp.float32).reshape(2, 6, 6, 4)
    stage = CropAndFlip(2, (-1.0, -2.0))
    np.testing.assert_array_equal(stage(x), x)
    moved = np.asarray(stage(x, key=KEY))
    assert moved.shape == x.shape
    for row in range(2):
        for component in range(2):
            part, whole = moved[row, :, :, 2 * component], np.asarray(x)[row, :, :, 2 * component]
            inside = part[part != -1]
            assert len(inside) > 0
            assert np.isin(inside, whole).all()
    far = [np.asarray(stage(x, key=jax.random.key(i))) for i in range(8)]
    assert len({image.tobytes() for image in far}) == 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: image_convnet(size=(16, 17), channels=2, key=KEY),
            "size: got (16, 17), expected at least 18",
        ),
        (lambda: image_vit(size=(28, 28), channels=2, key=KEY), "patch: got 8, expected a number of pixels"),
        (
            lambda: image_resnet(channels=2, augment=4, key=KEY),
            "black: got (), expected the value of a black",
        ),
    ],
)
def test_errors(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(message)
