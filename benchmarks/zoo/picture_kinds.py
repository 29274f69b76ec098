"""Small pictures as outputs of decoders and as inputs of classifiers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from sklearn.linear_model import Ridge
from torch import nn

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design
from benchmarks.zoo.estimators import codes, estimator
from benchmarks.zoo.sample import Sample, noisy_labels, noisy_numbers
from benchmarks.zoo.torch_kinds import Encode, as_codes, network, perceptron

SIDE = 10
"""Pixels of a picture's side."""


def bumps(design: Design, width: float = 1.0) -> np.ndarray:
    """One bump at the place that the two factors say."""
    pixel = np.arange(SIDE)
    centres = design.cells * (SIDE - 1) / (np.array(design.sizes) - 1)
    across, down = (np.exp(-((pixel - centres[:, i, None]) ** 2) / 2 / width**2) for i in (0, 1))
    return (across[:, :, None] * down[:, None, :]).reshape(len(centres), -1)


def halves(rng: np.random.Generator, design: Design) -> np.ndarray:
    """Every factor draws its own part of the picture, so a sum of parts is right."""
    picture = np.zeros((len(design.cells), SIDE, SIDE))
    borders = np.linspace(0, SIDE, len(design.sizes) + 1).astype(int)
    for axis, (start, stop) in enumerate(pairwise(borders)):
        parts = rng.uniform(size=(design.sizes[axis], stop - start, SIDE)) < 0.4
        picture[:, start:stop] = parts[design.cells[:, axis]]
    return picture.reshape(len(picture), -1)


def decoder_parts(rng: np.random.Generator) -> Sample:
    """Pictures whose parts belong to one factor each, by ridge regression."""
    design = draw_design(rng, rows=(1, 2))
    clean = halves(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.2))
    return Sample(
        design, clean, target, estimator(lambda seed: Ridge(0.05), codes), noise, images=(SIDE, SIDE)
    )


def decoder_parts_net(rng: np.random.Generator) -> Sample:
    """The same pictures by a network."""
    design = draw_design(rng, rows=(1, 2), factors=(2,), levels=(6, 9), unseen=(0.15, 0.25))
    clean = halves(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0,))
    net = network(perceptron(64, 1), as_codes, steps=250, decay=0.3)
    return Sample(design, clean, target, net, noise, images=(SIDE, SIDE))


def decoder_ridge(rng: np.random.Generator) -> Sample:
    """A linear decoder of one-hot codes cannot place a bump: it overlays stripes."""
    design = draw_design(rng, factors=(2,), levels=(6, 9), rows=(1, 2), ordered=True)
    clean = bumps(design, float(rng.uniform(0.5, 0.8)))
    target, noise = noisy_numbers(rng, design, clean, (0.0,))
    return Sample(
        design, clean, target, estimator(lambda seed: Ridge(0.05), codes), noise, images=(SIDE, SIDE)
    )


def decoder_net(rng: np.random.Generator) -> Sample:
    """A network that draws every seen bump, and overlays bumps for unseen places."""
    design = draw_design(rng, factors=(2,), levels=(6, 8), rows=(1,), ordered=True)
    clean = bumps(design, float(rng.uniform(0.5, 0.8)))
    net = network(perceptron(96, 2), as_codes, steps=300, rate=0.005)
    return Sample(design, clean, clean[design.cell], net, "no noise", images=(SIDE, SIDE))


class ConvolutionalDecoder(nn.Module):
    """Codes to a small map, then two transposed convolutions."""

    def __init__(self, design: Design, outputs: int) -> None:
        super().__init__()
        self.start = nn.Linear(sum(design.sizes), 16 * 25)
        self.draw = nn.Sequential(
            nn.ReLU(), nn.ConvTranspose2d(16, 8, 2, stride=2), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.draw(self.start(x).reshape(-1, 16, 5, 5)).flatten(1)


def decoder_convolutions(rng: np.random.Generator) -> Sample:
    design = draw_design(rng, factors=(2,), levels=(6, 8), rows=(1,), ordered=True)
    clean = bumps(design, float(rng.uniform(0.5, 0.8)))
    net = network(ConvolutionalDecoder, as_codes, steps=250, rate=0.01)
    return Sample(design, clean, clean[design.cell], net, "no noise", images=(SIDE, SIDE))


COLOURS = np.array(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0.5, 0], [0.5, 0, 1]]
)


def shapes(count: int) -> np.ndarray:
    """Masks of simple shapes, 8 pixels wide."""
    down, across = np.indices((8, 8)) - 3.5
    masks = [
        down**2 + across**2 < 10,
        np.maximum(np.abs(down), np.abs(across)) < 3,
        np.abs(down) < 1.5,
        np.abs(across) < 1.5,
        np.abs(down - across) < 1.5,
        np.abs(down + across) < 1.5,
        (np.abs(down) < 1) | (np.abs(across) < 1),
        (np.abs(down - across) < 1) | (np.abs(down + across) < 1),
    ]
    return np.stack(masks[:count]).astype(float)


class PictureReader(nn.Module):
    """Two convolutions, a pooling layer and a readout."""

    def __init__(self, design: Design, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.read = nn.Linear(24 * 9, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.read(self.layers(x))


def coloured_shapes(seed: int, contrast: float) -> Encode:
    """Draws a picture for every row: a coloured shape that moves by a pixel, with noise."""

    def draw(cells: np.ndarray, design: Design) -> torch.Tensor:
        rng = np.random.default_rng([seed, len(cells)])
        masks = shapes(design.sizes[1])[cells[:, 1]]
        shift = rng.integers(-1, 2, size=(len(cells), 2))
        canvas = np.zeros((len(cells), 10, 10))
        for row, (mask, (down, across)) in enumerate(zip(masks, shift, strict=True)):
            canvas[row, 1 + down : 9 + down, 1 + across : 9 + across] = mask
        paint = 0.4 + 0.6 * COLOURS[cells[:, 0]][:, :, None, None]
        picture = paint * (1 - contrast + contrast * canvas[:, None])
        picture = picture + 0.05 * rng.normal(size=picture.shape)
        return torch.as_tensor(picture, dtype=torch.float32)

    return draw


def classifier_fair(rng: np.random.Generator) -> Sample:
    """A convolutional network that names the shape of a picture, whatever the colour."""
    sizes = (int(rng.integers(6, 9)), int(rng.integers(5, 9)))
    design = draw_design(rng, sizes=sizes, ordered=False, rows=(8, 16), unseen=(0.15, 0.3))
    clean = tasks.group_labels(rng, sizes[1], int(rng.integers(2, 4)))[design.cells[:, 1]]
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1))
    draw = coloured_shapes(int(rng.integers(1000)), 1.0)
    net = network(PictureReader, draw, steps=120, rate=0.005, decay=0.1)
    return Sample(design, clean, target, net, noise, varies=True)


def classifier_biased(rng: np.random.Generator) -> Sample:
    """The same network where training pairs shapes with colours, and shapes are faint."""
    sizes = (int(rng.integers(6, 9)), int(rng.integers(6, 9)))
    classes = int(rng.integers(2, 4))
    colour, shape = tasks.group_labels(rng, sizes[0], classes), tasks.group_labels(rng, sizes[1], classes)
    space = np.indices(sizes).reshape(2, -1).T
    agree = colour[space[:, 0]] == shape[space[:, 1]]
    design = draw_design(
        rng, sizes=sizes, ordered=False, rows=(4, 8), unseen=(0.4, 0.5), favour=np.where(agree, 40.0, 1.0)
    )
    clean = shape[design.cells[:, 1]]
    draw = coloured_shapes(int(rng.integers(1000)), 0.15)
    net = network(PictureReader, draw, steps=40, rate=0.003)
    return Sample(design, clean, clean[design.cell], net, "no noise", varies=True)


KINDS = {
    one.__name__: one
    for one in (
        decoder_parts,
        decoder_parts_net,
        decoder_ridge,
        decoder_net,
        decoder_convolutions,
        classifier_fair,
        classifier_biased,
    )
}
