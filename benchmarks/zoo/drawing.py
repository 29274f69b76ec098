"""Draws a model of a kind by seed, until its truth is clear, and keeps what training gave."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.zoo import cutoffs, designs, estimators, memory_test, patterns, sample, tasks, truth
from benchmarks.zoo.kinds import KINDS, SHOWS, shows
from benchmarks.zoo.sample import Sample
from benchmarks.zoo.truth import Truth, find_truth

MAX_ATTEMPTS = 25
"""Draws of a kind and seed after which it is left out as unclear."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A trained model of a kind.

    **Attributes:**

    - `attempt`: how many draws before it were unclear; `prediction`: of every row.
    """

    kind: str
    seed: int
    attempt: int
    sample: Sample
    prediction: np.ndarray
    truth: Truth

    def audit_arguments(self) -> dict[str, Any]:
        """What a user would pass to `audit`."""
        design, target, prediction = self.sample.design, self.sample.target, self.prediction
        if self.sample.kind == "labels" and design.levels[0].dtype.kind == "U":
            target, prediction = (np.array([f"class {one}" for one in x]) for x in (target, prediction))
        elif self.sample.images is not None:
            target, prediction = (x.reshape(-1, *self.sample.images) for x in (target, prediction))
        elif self.sample.kind == "quantities" and target.shape[1] == 1:
            target, prediction = target[:, 0], prediction[:, 0]
        return {
            "table": design.table(),
            "factors": list(design.names),
            "seen": "train",
            "target": target,
            "prediction": prediction,
            "kind": "classification" if self.sample.kind == "labels" else "regression",
        }


def draw(kind: str, seed: int, cache: Path | None = None) -> Draw | None:
    """The model of a kind and seed; `None` if no draw was clear."""
    path = None if cache is None else cache / f"{kind}-{seed}-{_fingerprint(kind)}.npz"
    if path is not None and path.exists():
        return _load(path, kind, seed)
    for attempt in range(MAX_ATTEMPTS):
        made = _attempt(kind, seed, attempt)
        if made is not None and shows(kind, made.truth):
            break
    else:
        made = None
    if path is not None:
        _store(path, made)
    return made


def sample_of(kind: str, seed: int, attempt: int) -> Sample:
    """The task of a draw and how to train its model; nothing is trained."""
    return KINDS[kind](np.random.default_rng([zlib.crc32(kind.encode()), seed, attempt]))


def _attempt(kind: str, seed: int, attempt: int) -> Draw | None:
    try:
        one = sample_of(kind, seed, attempt)
    except ValueError:  # no split or no labels of the kind that is wanted
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit has not converged is part of the model
        fitted = one.fit(one.design, one.target, seed)
        prediction = fitted.predict(one.design.cells[one.design.cell])
        return Draw(kind, seed, attempt, one, prediction, find_truth(one, fitted, SHOWS[kind]))


def _store(path: Path, made: Draw | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.stem}.partial.npz")
    if made is None:
        np.savez(partial, unclear=True)
    else:
        arrays: dict[str, Any] = made.sample.design.table()
        arrays |= {"target": made.sample.target, "prediction": made.prediction}
        arrays |= {"about": json.dumps({"attempt": made.attempt} | asdict(made.truth))}
        np.savez_compressed(partial, **arrays)
    partial.rename(path)


def _load(path: Path, kind: str, seed: int) -> Draw | None:
    with np.load(path, allow_pickle=False) as file:
        if "unclear" in file:
            return None
        about = json.loads(str(file["about"]))
        prediction = file["prediction"]
    attempt = about.pop("attempt")
    return Draw(kind, seed, attempt, sample_of(kind, seed, attempt), prediction, Truth(**about))


def _fingerprint(kind: str) -> str:
    """Changes with the code that makes this kind and its truth."""
    modules = [cutoffs, designs, estimators, memory_test, patterns, sample, tasks, truth]
    modules.append(sys.modules[KINDS[kind].__module__])
    if KINDS[kind].__module__.endswith("picture_kinds"):
        modules.append(sys.modules["benchmarks.zoo.torch_kinds"])
    text = b"".join(Path(str(one.__file__)).read_bytes() for one in modules)
    return hashlib.sha256(text).hexdigest()[:10]
