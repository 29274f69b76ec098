"""Tables, weights and planted models for the golden cases. Every file is written from a fixed seed."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.linalg import block_diag

NAMES = ("colour", "shape", "size", "texture", "place")
LABELS = np.array(["ant", "bee", "cat", "dog"])
MODELS = """
import numpy as np

SLOPES = np.array([1.5, 1.0])


def composer(rows):
    return rows @ SLOPES


def broken(rows):
    raise RuntimeError("out of order")


def chatty(rows):
    print("hello")
    return rows @ SLOPES


def pair(rows):
    return {"first": rows[:, 0] * 1.5, "total": rows @ SLOPES}


def linear():
    import torch

    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1), torch.nn.Flatten(0))
"""


def grid(*sizes: int) -> np.ndarray:
    """All cells `(cells, factors)`, the last factor fastest."""
    return np.indices(sizes).reshape(len(sizes), -1).T


def random_split(cells: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which cells are seen: a random share, and at least two cells of every level."""
    seen = rng.random(len(cells)) < share
    for axis in range(cells.shape[1]):
        for level in range(cells[:, axis].max() + 1):
            members = np.flatnonzero(cells[:, axis] == level)
            seen[members[rng.permutation(len(members))[: max(0, 2 - seen[members].sum())]]] = True
    return seen


def one_hot(cells: np.ndarray) -> np.ndarray:
    """The levels of all factors side by side."""
    return np.concatenate(
        [np.eye(n)[column] for column, n in zip(cells.T, cells.max(axis=0) + 1, strict=True)], axis=1
    )


def numbers(cells: np.ndarray, rng: np.random.Generator, interaction: float = 0.0) -> np.ndarray:
    """A sum of random main effects, and a product of the first two factors' effects."""
    effects = [rng.normal(size=column.max() + 1)[column] for column in cells.T]
    return sum(effects) + interaction * effects[0] * effects[1]


def write_table(path: Path, sizes: tuple[int, ...], seed: int, **options: Any) -> None:
    """A table of a random split.

    **Arguments:**

    - `share`: of seen cells; `rows`: the most rows per cell; `noise`: of the target, by row.
    - `interaction`: weight of a product in the target `y`; `label` is its tercile, `big` whether it is positive.
    - `levels`: "words", "ints" or "codes" (strings such as 01).
    """
    settings = {"share": 0.6, "rows": 1, "noise": 0.0, "interaction": 0.0, "levels": "words"} | options
    rng = np.random.default_rng(seed)
    cells = grid(*sizes)
    seen, y = random_split(cells, settings["share"], rng), numbers(cells, rng, settings["interaction"])
    rows = np.repeat(np.arange(len(cells)), rng.integers(1, settings["rows"] + 1, size=len(cells)))
    rows = rng.permutation(rows)
    kinds = {
        "words": lambda name, column: [f"{name}{level}" for level in column],
        "ints": lambda _, column: column * 3 - 2,
        "codes": lambda _, column: [f"{level:02d}" for level in column],
    }
    named = zip(NAMES, cells[rows].T, strict=False)
    columns: dict[str, Any] = {name: kinds[settings["levels"]](name, column) for name, column in named}
    columns["split"] = np.where(seen[rows], "train", "test")
    columns["train"] = seen[rows]
    columns["y"] = (y[rows] + settings["noise"] * rng.normal(size=len(rows))).round(6)
    columns["label"] = LABELS[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))][rows]
    columns["big"] = np.where(y > 0, "yes", "no")[rows]
    columns["weight"] = rng.lognormal(size=len(rows)).round(4)
    columns["price"] = rng.integers(1, 9, size=len(cells))[rows]
    frame = pl.DataFrame(columns)
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def planted(kind: str, form: str, seed: int, sizes: tuple[int, ...] = (6, 7)) -> dict[str, Any]:
    """Arguments of an audit of a model whose behaviour is known: cells, split, targets and predictions by row.

    **Arguments:**

    - `kind`: lookup, additive, kernel, shortcut, superposition, composer, noisy_composer, constant, shrunken or scaled.
    - `form`: "numbers", "labels" (classes that mostly follow the first factor) or "images" of bumps.
    """
    rng = np.random.default_rng(seed)
    cells = grid(*sizes)
    seen = random_split(cells, 0.55, rng)
    if form == "labels":
        odd = (rng.random(sizes[1]) < 0.5)[cells[:, 1]] & ~(seen & (rng.random(len(cells)) < 0.7))
        target: np.ndarray = (cells[:, 0] + odd) % 3
    elif form == "images":
        pixels = np.arange(10)
        bumps = [np.exp(-((pixels - 1 - 1.2 * column[:, None]) ** 2) / 2) for column in cells.T[:2]]
        target = bumps[0][:, :, None] * bumps[1][:, None, :]
    else:
        target = numbers(cells, rng, interaction=1.0 if kind in {"additive", "lookup"} else 0.0)
    prediction = PREDICTIONS[kind](cells, seen, target, rng)
    rows = np.repeat(np.arange(len(cells)), 1 if form == "images" else 2)
    target, prediction = target[rows], np.asarray(prediction)[rows]
    if kind == "noisy_composer":
        prediction = _with_noise(prediction, rng)
    if form == "labels":
        target, prediction = LABELS[target], LABELS[prediction]
    factors = {name: column[rows] for name, column in zip(NAMES, cells.T, strict=False)}
    return {"factors": factors, "seen": seen[rows], "target": target, "prediction": prediction}


def write_predictions(path: Path, planted_case: dict[str, Any]) -> None:
    """A planted case as a table with the columns split, y and p."""
    columns = planted_case["factors"] | {"split": np.where(planted_case["seen"], "train", "test")}
    frame = pl.DataFrame(columns | {"y": planted_case["target"], "p": planted_case["prediction"]})
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def _with_noise(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if values.dtype.kind == "i":
        return np.where(rng.random(len(values)) < 0.05, (values + 1) % 3, values)
    return values + 0.1 * values.std() * rng.normal(size=values.shape)


def _lookup(cells: np.ndarray, seen: np.ndarray, target: np.ndarray, _: Any) -> np.ndarray:
    """The target of the nearest seen cell, by the distance between levels."""
    apart = (np.abs(cells[:, None] - cells[seen]) * np.arange(1, cells.shape[1] + 1)).sum(axis=2)
    return target[np.flatnonzero(seen)[apart.argmin(axis=1)]]


def _additive(cells: np.ndarray, seen: np.ndarray, target: np.ndarray, _: Any) -> np.ndarray:
    """The best sum of main effects in training."""
    flat = target.reshape(len(target), -1)
    effects = np.linalg.lstsq(one_hot(cells[seen]), flat[seen], rcond=None)[0]
    return (one_hot(cells) @ effects).reshape(target.shape)


def _kernel(cells: np.ndarray, seen: np.ndarray, target: np.ndarray, _: Any) -> np.ndarray:
    """A kernel machine of least norm that mostly stores whole cells."""
    shared = (cells[:, None] == cells[seen]).mean(axis=2)
    gram = 0.2 * shared + 2.0 * (shared == 1)
    return gram @ np.linalg.solve(gram[seen], target[seen])


def _shortcut(cells: np.ndarray, seen: np.ndarray, target: np.ndarray, _: Any) -> np.ndarray:
    """The most frequent class in training for the level of the first factor."""
    votes = np.zeros((cells[:, 0].max() + 1, target.max() + 1))
    np.add.at(votes, (cells[seen, 0], target[seen]), 1)
    return votes.argmax(axis=1)[cells[:, 0]]


def _superposition(cells: np.ndarray, seen: np.ndarray, target: np.ndarray, _: Any) -> np.ndarray:
    """On unseen cells the mean of the seen images that share a level."""
    shares = (cells[:, None] == cells[seen]).any(axis=2).astype(float)
    mean = np.einsum("us,shw->uhw", shares / shares.sum(axis=1, keepdims=True), target[seen])
    return np.where(seen[:, None, None], target, mean)


def _constant(_: Any, seen: np.ndarray, target: np.ndarray, __: Any) -> np.ndarray:
    if target.dtype.kind == "i":
        return np.full_like(target, np.bincount(target[seen]).argmax())
    return np.broadcast_to(target[seen].mean(axis=0), target.shape)


def _right(_: Any, __: Any, target: np.ndarray, ___: Any) -> np.ndarray:
    return target


def _shrunken(_: Any, seen: np.ndarray, target: np.ndarray, __: Any) -> np.ndarray:
    return np.where(seen, target, target[seen].mean() + 0.4 * (target - target[seen].mean()))


def _scaled(_: Any, __: Any, target: np.ndarray, ___: Any) -> np.ndarray:
    return 2.5 * target + 7.0


PREDICTIONS = {
    "lookup": _lookup,
    "additive": _additive,
    "kernel": _kernel,
    "shortcut": _shortcut,
    "superposition": _superposition,
    "composer": _right,
    "noisy_composer": _right,
    "constant": _constant,
    "shrunken": _shrunken,
    "scaled": _scaled,
}


def blocks(
    modules: int, units: int = 5, depth: int = 2, between: float = 0.0, seed: int = 0
) -> list[np.ndarray]:
    """Matrices of a net of equal modules, with hidden units in random order and some weight between modules."""
    rng = np.random.default_rng(seed)
    shapes = [(1, units), *[(units, units)] * (depth - 1), (units, 1)]
    weights = [block_diag(*rng.uniform(0.5, 1.5, size=(modules, *shape))) for shape in shapes]
    weights = [matrix + between * rng.normal(size=matrix.shape) for matrix in weights]
    for layer in range(depth):
        order = rng.permutation(modules * units)
        weights[layer], weights[layer + 1] = weights[layer][:, order], weights[layer + 1][order]
    return weights


def dense(*sizes: int, seed: int = 0) -> list[np.ndarray]:
    """Matrices of a net without modules."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=pair) / pair[0] ** 0.5 for pair in pairwise(sizes)]


def write_safetensors(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Arrays in single precision: the length of the header, the header in JSON, the numbers."""
    header, raw = {}, b""
    for name, array in arrays.items():
        part = np.ascontiguousarray(array, dtype="<f4").tobytes()
        offsets = [len(raw), len(raw) + len(part)]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        raw += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw)


def state_dict(weights: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Matrices as PyTorch names and turns them, with biases of 0."""
    arrays = {}
    for number, matrix in enumerate(weights):
        arrays |= {f"{2 * number}.weight": matrix.T, f"{2 * number}.bias": np.zeros(matrix.shape[1])}
    return arrays


def write_all(folder: Path) -> None:
    """Writes every file that the golden cases read."""
    tables: dict[str, tuple[tuple[int, ...], int, dict[str, Any]]] = {
        "two.csv": ((5, 6), 1, {}),
        "two.parquet": ((5, 6), 1, {}),
        "many.csv": ((4, 5), 2, {"rows": 6, "noise": 0.3}),
        "three.csv": ((4, 3, 4), 3, {"interaction": 1.0, "share": 0.5}),
        "sparse.csv": ((5, 4, 4), 4, {"share": 0.25, "rows": 3}),
        "four.parquet": ((3, 3, 2, 3), 5, {"interaction": 1.0}),
        "binary.csv": ((2, 2, 2, 2), 6, {"interaction": 2.0, "share": 0.6}),
        "five.parquet": ((2, 3, 2, 3, 2), 7, {"share": 0.4}),
        "ints.csv": ((6, 6), 8, {"levels": "ints", "rows": 2}),
        "codes.csv": ((4, 5), 9, {"levels": "codes"}),
        "codes.parquet": ((4, 5), 9, {"levels": "codes"}),
        "wide.csv": ((12, 15), 10, {"share": 0.3, "noise": 0.1}),
    }
    for name, (sizes, seed, options) in tables.items():
        write_table(folder / name, sizes, seed, **options)
    _write_odd_tables(folder)
    rng = np.random.default_rng(20)
    activity = np.maximum(one_hot(grid(5, 6)) @ rng.normal(size=(11, 40)), 0)
    two = pl.read_csv(folder / "two.csv")
    levels = [two[name].str.tail(1).cast(pl.Int64).to_numpy() for name in NAMES[:2]]
    np.save(folder / "layer.npy", activity[levels[0] * 6 + levels[1]])
    np.savez(folder / "layer.npz", layer=activity.reshape(30, 5, 8))  # of other rows, so nothing but noise
    np.save(folder / "short.npy", activity[:7])
    cells = grid(6, 7)
    seen = (3 * cells[:, 0] + 2 * cells[:, 1]) % 4 > 0
    truth = cells @ np.array([1.5, 1.0])
    about = {"colour": cells[:, 0], "shape": cells[:, 1]}
    np.savez(folder / "data.npz", x=cells.astype(float), y=truth, seen=seen, **about)
    np.savez(folder / "named.npz", u=cells.astype(float), z=truth, fit=seen, spare=np.zeros(3), **about)
    prediction = np.where(seen, truth, truth.mean())
    np.savez(folder / "said.npz", prediction=prediction, y=truth, seen=seen, **about)
    hidden = np.tanh(cells @ rng.normal(size=(2, 12)))
    np.savez(folder / "activity.npz", first=hidden, second=np.maximum(hidden @ rng.normal(size=(12, 9)), 0))
    (folder / "golden_models.py").write_text(MODELS, encoding="utf-8")
    write_safetensors(folder / "linear.safetensors", state_dict(dense(2, 3, 1, seed=4)))
    _write_weights(folder, rng)


def _write_odd_tables(folder: Path) -> None:
    """Small tables, each with one peculiarity."""
    rows = {
        "open.csv": "a0,b0,c0,train a0,b1,c1,train a1,b0,c1,train a1,b1,c0,test",
        "pieces.csv": "a0,b0,c0,train a0,b1,c0,train a1,b2,c1,train a1,b3,c1,train a0,b2,c0,test a1,b0,c1,test",
        "together.csv": "a0,b0,c0,train a1,b1,c0,train a0,b0,c1,train a1,b1,c1,test a2,b2,c0,train a2,b2,c1,test",
        "repeated.csv": "a0,b0,c0,train a0,b1,c0,train a0,b0,c0,test a1,b0,c0,train a1,b1,c1,train a1,b1,c0,test",
        "new_level.csv": "a0,b0,c0,train a0,b1,c1,train a1,b0,c1,train a2,b0,c0,test a2,b1,c1,test a1,b1,c0,test",
        "all_seen.csv": "a0,b0,c0,train a0,b1,c0,train a1,b0,c0,train a1,b1,c0,train",
        "gaps.csv": "a0,b0,c0,train a0,,c1,train a1,b0,c1,train a1,b1,c0,test",
        "few.csv": " ".join(12 * ["a0,b0,c0,train a0,b1,c0,train"] + ["a1,b0,c0,train a1,b1,c0,test"]),
        "empty.csv": "",
    }
    for name, text in rows.items():
        lines = ["colour,shape,size,split", *text.split()]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "notes.txt").write_text("colour,shape\n", encoding="utf-8")


def _write_weights(folder: Path, rng: np.random.Generator) -> None:
    """Nets with and without modules, dead units, convolutions and damage."""
    dead = blocks(3, between=0.02, seed=5)
    dead[0][:, :4] = 0.0
    dead[1][:4] = 0.0
    cut = blocks(3, seed=6)
    cut[2][:, 0] = 0.0
    # Three modules with 2, 4 and 12 hidden units, each with two inputs and one output.
    unequal = [block_diag(*(rng.uniform(0.5, 1.5, size=(2, units)) for units in (2, 4, 12)))]
    unequal.append(block_diag(*(rng.uniform(0.5, 1.5, size=(units, 1)) for units in (2, 4, 12))))
    # Weak units that mix modules: cosines count them as much as strong ones.
    weak = blocks(3, units=8, seed=7)
    weak[0][:, :12] = 0.1 * rng.normal(size=(3, 12))
    weak[1][:12] = 0.1 * rng.normal(size=(12, 24))
    nets = {
        "blocks": blocks(4),
        "leaky": blocks(3, between=0.05, seed=1),
        "partly": blocks(3, between=0.25, seed=2),
        "two": blocks(2, units=8, seed=3),
        "deep": blocks(4, depth=4, between=0.02, seed=4),
        "dead": dead,
        "cut": cut,
        "unequal": unequal,
        "weak": weak,
        "dense": dense(4, 20, 20, 4),
        "tiny": dense(2, 3, 2),
        "nan": [np.full((3, 4), np.nan), np.ones((4, 2))],
        "unfit": [np.ones((3, 4)), np.ones((5, 2))],
    }
    for name, weights in nets.items():
        arrays = {f"W{n + 1}": matrix for n, matrix in enumerate(weights)}
        arrays |= {f"b{n + 1}": 0.1 * rng.normal(size=matrix.shape[1]) for n, matrix in enumerate(weights)}
        np.savez(folder / f"{name}.npz", **arrays)
    write_safetensors(folder / "blocks.safetensors", state_dict(blocks(4)))
    kernels = {"0.weight": rng.normal(size=(6, 3, 3, 3)), "2.weight": rng.normal(size=(8, 6, 3, 3))}
    write_safetensors(folder / "convolutions.safetensors", kernels)
    (folder / "damaged.safetensors").write_bytes(b"\x40\x00\x00")
    (folder / "net.pt").write_bytes(b"pickle")
    x = rng.normal(size=(60, 3))
    np.savez(folder / "run.npz", x=x, y=np.tanh(x))
    # Right only with its weights between modules, small as they are.
    needed = blocks(3, between=0.12, seed=1)
    y = 20 * x
    for n, matrix in enumerate(needed):
        y = (y if n == 0 else np.tanh(y)) @ matrix
    np.savez(folder / "needed.npz", x=20 * x, y=y + 0.05 * rng.normal(size=y.shape))
    plain = {f"W{n + 1}": matrix for n, matrix in enumerate(needed)}
    plain |= {f"b{n + 1}": np.zeros(matrix.shape[1]) for n, matrix in enumerate(needed)}
    np.savez(folder / "plain.npz", **plain)
    activity = {f"h{n}": np.abs(rng.normal(size=(50, 15))) * (np.arange(15) > 2) for n in (1, 2)}
    np.savez(folder / "hidden.npz", **activity)
