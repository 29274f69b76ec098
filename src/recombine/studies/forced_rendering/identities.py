"""Statements that need no training, or training only to compare numbers bit by bit: probes of the task alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import numpy as np

from recombine.errors import InputError
from recombine.metrics import factorisation, log10_volume, metric_tensor
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
from recombine.probes.decoders import errors
from recombine.spaces import Space, centre_hole, corner_hole
from recombine.tasks import Task, bump_code, bump_images, bumps, one_hot, ramp
from recombine.training import Recipe, fit

Values = dict[str, Any]

REGIONS: tuple[tuple[str, Part, Part, tuple[int, int], tuple[float, float]], ...] = (
    ("centre hole", Part(bumps, n=28), Part(centre_hole, low=6, high=22), (495, 289), (0.00380, 0.00401)),
    (
        "small centre hole",
        Part(bumps, n=28),
        Part(centre_hole, low=10, high=18),
        (703, 81),
        (0.00386, 0.00401),
    ),
    (
        "render corner",
        Part(bumps, n=32, sigma=1.5, polarity="bright", pixels="half"),
        Part(corner_hole, low=12),
        (624, 400),
        (0.006528, 0.006636),
    ),
    ("corner", Part(bumps, n=28), Part(corner_hole, low=14), (588, 196), (np.nan, np.nan)),
)
"""For every task: how to build it, its hole, seen and unseen cells, blank error on both (NaN: unpublished)."""


def constants(task: Task) -> Values:
    """Counts, blank errors, images and encodings compared with their published values and with slow formulas."""
    count_gap, blank_gap = [], []
    for _, draw, hole, counts, blanks in REGIONS:
        built = draw(hole=hole)
        squares = ((built.targets.astype(float) - built.blank) ** 2).mean(axis=(1, 2))
        seen = built.split.seen
        count_gap.append(np.abs([seen.sum() - counts[0], (~seen).sum() - counts[1]]).max())
        gaps = np.abs([squares[seen].mean() - blanks[0], squares[~seen].mean() - blanks[1]])
        blank_gap.append(0.0 if np.isnan(gaps).all() else gaps.max())
    return {
        "count_gap": max(count_gap),
        "blank_gap": max(blank_gap),
        "picture_gap": _picture_gap(),
        "code_gap": _code_gap(),
    }


def _picture_gap() -> float:
    """The largest difference between the images and the defining formula, pixel by pixel."""
    points = np.array([[0, 0], [3, 7], [27, 14]])
    images = bump_images(points, 28, 1.0)
    gap = 0.0
    for image, (x, y) in zip(images, points, strict=True):
        for row in range(28):
            for column in range(28):
                true = 1 - np.exp(-((column - x) ** 2 + (row - y) ** 2) / 2)
                gap = max(gap, abs(float(image[row, column]) - true))
    return gap


def _code_gap() -> float:
    """The same for the three encodings."""
    points, n = np.array([[0, 5], [13, 27]]), 28
    gap = 0.0
    for (x, y), hot, code, raw in zip(
        points, one_hot(points, n), bump_code(points, n), ramp(points, n), strict=True
    ):
        for k in range(n):
            gap = max(gap, abs(hot[k] - (k == x)), abs(hot[n + k] - (k == y)))
            gap = max(
                gap,
                abs(code[k] - np.exp(-((k - x) ** 2) / 2)),
                abs(code[n + k] - np.exp(-((k - y) ** 2) / 2)),
            )
        gap = max(gap, abs(raw[0] - x), abs(raw[1] - y))
    return float(gap)


PARAMETERS: tuple[tuple[Part, int], ...] = (
    *((Part(cnn_decoder, inputs=56, width=64, depth=d), 307_457 + 36_928 * (d - 2)) for d in range(2, 11)),
    *((Part(cnn_decoder, inputs=2, width=64, depth=d), 138_113 + 36_928 * (d - 2)) for d in range(2, 11)),
    (Part(cnn_decoder, inputs=80, width=64, depth=8), 604_289),
    (Part(cnn_decoder, inputs=2, width=128, depth=8), 1_423_873),
    (Part(cnn_decoder, inputs=2, width=128, depth=10), 1_719_041),
    (Part(cnn_decoder, inputs=56, width=256, depth=10), 7_523_329),
    (Part(cnn_decoder, inputs=2, width=256, depth=10), 6_845_953),
    *(
        (Part(mlp, inputs=56, width=256, depth=d, outputs=784), count)
        for d, count in zip(range(3, 8), (347_664, 413_456, 479_248, 545_040, 610_832), strict=True)
    ),
    *(
        (Part(mlp, inputs=2, width=128, depth=d, outputs=784), count)
        for d, count in zip(range(3, 8), (134_544, 151_056, 167_568, 184_080, 200_592), strict=True)
    ),
    *((Part(pixel_transformer, inputs=56, depth=d), 1_193_473 + 593_024 * (d - 2)) for d in range(2, 6)),
    (Part(spatial_mlp, inputs=56, depth=2), 146_435),
    (Part(spatial_mlp, inputs=56, depth=4), 278_021),
    (Part(render_net, levels=(32, 32)), 133_218),
    (Part(cnn_encoder, outputs=56), 362_168),
    (Part(cnn_encoder, outputs=2), 355_202),
    (Part(rotation_decoder, inputs=1), 406_913),
    (Part(rotation_decoder, inputs=2), 413_185),
    (Part(rotation_decoder, inputs=2, deep=True), 1_240_897),
    (Part(mlp, inputs=56, width=1024, depth=10, outputs=784, normalise=True), 10_328_848),
    (Part(mlp, inputs=2, width=1024, depth=10, outputs=784, normalise=True), 10_273_552),
    (Part(mlp, inputs=2, width=4096, depth=5, outputs=784, normalise=True), 70_390_544),
    *(
        (Part(cnn_decoder, inputs=2 * n, width=128, depth=8, size=n), count)
        for n, count in ((24, 1_712_385), (28, 1_762_561), (32, 1_927_425), (36, 1_977_601), (40, 2_027_777))
    ),
    *(
        (Part(cnn_decoder, inputs=2, width=128, depth=8, size=n), count)
        for n, count in ((24, 1_423_873), (28, 1_423_873), (32, 1_538_561), (36, 1_538_561), (40, 1_538_561))
    ),
)
"""Architectures and their published numbers of trainable parameters."""


def parameter_counts(task: Task) -> Values:
    """How many architectures differ from their published number of parameters; no weights are sampled."""
    correct = [
        parameter_count(eqx.filter_eval_shape(net, key=jax.random.key(0))) == count
        for net, count in PARAMETERS
    ]
    return {"architectures": len(correct), "wrong_counts": len(correct) - sum(correct)}


def encodings(task: Task, *, n: int = 28, seed: int = 0) -> Values:
    """Factorisation and evenness of the three encodings, and the score's range.

    `code_unevenness` is the largest deviation of log10 dv from its mean over cells at least 5 pixels from the
    edge. The entangled code f(x + y) is also scored away from the edge, where both differences are central.
    """
    space = Space({"x": n, "y": n})
    scores, unevenness = [], []
    for encoding in (one_hot, bump_code, ramp):
        g = metric_tensor(space.grid(encoding(space.cells, n)))
        middle = log10_volume(g)[5:-5, 5:-5]
        scores.append(factorisation(g))
        unevenness.append(np.abs(middle - middle.mean()).max())
    rng = np.random.default_rng(seed)
    at_random = [factorisation(metric_tensor(rng.normal(size=(6, 6, k)))) for k in range(1, 51)]
    x, y = np.meshgrid(np.arange(9.0), np.arange(9.0), indexing="ij")
    tangled = metric_tensor(np.stack([np.sin(x + y), (x + y) ** 2], axis=-1))[1:-1, 1:-1]
    return {
        "code_factorisation": np.array(scores),
        "code_unevenness": max(unevenness),
        "random_factorisation": min(at_random),
        "tangled_factorisation": factorisation(tangled),
    }


def repeatability(task: Task) -> Values:
    """The largest difference between training a small MLP here and in a fresh process with the same seed.

    The seed is derived from the task's training draws, so that every seed of the trial is another comparison.
    """
    if not np.array_equal(task.split.seen, _donut().split.seen):
        raise InputError(
            "task", task, "bumps with the centre hole from 6 to 22, which the fresh process builds"
        )
    seed = int(task.train.sum()) % 100_000
    here = _losses_and_errors(task, seed)
    order = json.dumps({"rows": task.train.tolist(), "seed": seed})
    program = f"from {__name__} import train_from_stdin; train_from_stdin()"
    process = subprocess.run(
        [sys.executable, "-c", program], input=order, capture_output=True, text=True, check=False, timeout=600
    )
    if process.returncode:
        raise RuntimeError(f"training in a fresh process failed: {process.stderr.strip()[-300:]}")
    there = np.array(json.loads(process.stdout.splitlines()[-1]))
    return {"repeat_gap": np.abs(here - there).max(), "seed_gap": np.abs(here[0] - here[1]).max()}


def train_from_stdin() -> None:
    """The fresh process: trains on the rows given on standard input and prints the numbers exactly."""
    order = json.loads(sys.stdin.read())
    task = _donut().trained_on(np.array(order["rows"]))
    sys.stdout.write(json.dumps(_losses_and_errors(task, order["seed"]).tolist()) + "\n")


def _donut() -> Task:
    return bumps(hole=Part(centre_hole, low=6, high=22))


def _losses_and_errors(task: Task, seed: int) -> np.ndarray:
    """Loss curve and error of every cell after a short training run, for two seeds."""
    net = Part(mlp, inputs=56, width=64, depth=2, outputs=(28, 28))
    fitted = fit(net, task, Recipe(steps=200), seeds=(seed, seed + 1))
    cell_errors = np.array([errors(fitted.net(i), task)["error"] for i in range(2)])
    return np.concatenate([fitted.curves["train"], cell_errors], axis=1).astype(np.float64)
