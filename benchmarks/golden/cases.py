"""The golden cases: commands and calls, by group."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.golden import data
from benchmarks.golden.running import call, command, planted_matrix, study

SLOW = ("studies", "planted")
"""Groups that take minutes; `--skip studies,planted` leaves the quick ones."""
SINGLE = 1e-4
"""Relative tolerance for models in single precision."""
TRAINED = 1e-3
"""Relative tolerance for trained models."""


@dataclass(frozen=True)
class Case:
    """One output to be kept: `run()` gives plain JSON; numbers in it are compared with `rtol`."""

    group: str
    name: str
    run: Callable[[], Any]
    rtol: float = 1e-6


def all_cases() -> list[Case]:
    """Every case, quick groups first."""
    return [
        *advise_cases(),
        *audit_cases(),
        *model_cases(),
        *modularity_cases(),
        *interaction_cases(),
        *slow_cases(),
    ]


def commands(
    group: str, words: str, lines: dict[str, str], *, end: str = "--json", rtol: float = 1e-6
) -> list[Case]:
    """Cases that are commands: every line of options after `words`."""
    return [
        Case(group, name, lambda line=line: command(shlex.split(f"{words} {line} {end}")), rtol)
        for name, line in lines.items()
    ]


def advise_cases() -> list[Case]:
    animals = "animals.csv --factors colour,shape,size --seen split=train"
    two, three = "--factors colour,shape --seen split=train", "--factors colour,shape,size --seen split=train"
    good = {
        "animals": f"{animals} --target label",
        "animals-no-target": animals,
        "animals-orders": f"{animals} --target label --order 1,2,3",
        "animals-salience": f"{animals} --target label --salience ntk:2",
        "animals-ban": f"{animals} --ban colour=cyan,shape=cat --ban size=small --order 2",
        "animals-exclude": f"{animals} --exclude colour=cyan --target label",
        "animals-table": f"{animals} --interest table --target label",
        "animals-bins": "animals.csv --factors colour,shape,weight --seen split=train --bins weight=4",
        "animals-cost": f"{animals} --cost weight --cells out-cells.csv --additions out-more.parquet",
        "animals-page": f"{animals} --target label --html out-page.html --cells out-cells.parquet",
        "animals-two": "animals.csv --factors colour,shape --seen split!=test",
        "two-csv": f"two.csv {two} --target y",
        "two-parquet": f"two.parquet {two} --target y",
        "two-classes": f"two.csv {two} --target big",
        "two-boolean": "two.parquet --factors colour,shape --seen train --target label",
        "two-layer-npy": f"two.csv {two} --target y --activations layer.npy",
        "two-layer-noise-npz": f"two.csv {two} --activations layer.npz",
        "two-relu-1": f"two.csv {two} --target y --salience relu:1",
        "two-gaussian": f"two.csv {two} --target big --salience gaussian:2",
        "two-bins": "two.csv --factors colour,weight --seen train --bins weight=3 --target y --average",
        "many-average": f"many.csv {two} --target y --average",
        "many-labels": f"many.csv {two} --target label --cells out-cells.csv",
        "many-no-average": f"many.csv {two} --target y",
        "three-numbers": f"three.csv {three} --target y --order 1,2,3",
        "three-classes": f"three.csv {three} --target big",
        "three-labels": f"three.csv {three} --target label",
        "three-ban-price": f"three.csv {three} --cost price --ban size=size0 --exclude colour=colour1,shape=shape0",
        "sparse": f"sparse.csv {three} --order 1,2 --additions out-more.csv",
        "sparse-table": f"sparse.csv {three} --interest table --target label",
        "four": "four.parquet --factors colour,shape,size,texture --seen split=train --target y --order 1,2,3,4",
        "four-of-three": f"four.parquet {three} --order 2",
        "binary": "binary.csv --factors colour,shape,size,texture --seen split=train --target big --order 1,2",
        "five": "five.parquet --factors colour,shape,size,texture,place --seen train --target y --order 1,2",
        "five-classes": "five.parquet --factors colour,shape,size,texture,place --seen train --target big --order 1",
        "ints": f"ints.csv {two} --target y",
        "codes-csv": f"codes.csv {two} --target y",
        "codes-parquet": f"codes.parquet {two} --target y",
        "wide": f"wide.csv {two} --target y --cells out-cells.parquet",
        "one-factor": "two.csv --factors colour --seen split=train",
        "all-seen": f"all_seen.csv {two}",
        "gaps": f"gaps.csv {three}",
        "repeated-two": f"repeated.csv {two}",
        "few": f"few.csv {two}",
    }
    odd = ("open", "pieces", "together", "repeated", "new_level")
    good |= {name.replace("_", "-"): f"{name}.csv {three} --order 1,2,3" for name in odd}
    bad = {
        "bad-factor": "two.csv --factors color,shape --seen split=train",
        "bad-file": f"nothing.csv {two}",
        "bad-suffix": f"notes.txt {two}",
        "bad-empty": f"empty.csv {two}",
        "bad-order": f"two.csv {two} --order one",
        "bad-order-0": f"two.csv {two} --order 0",
        "bad-ban": f"two.csv {two} --ban colour",
        "bad-ban-level": f"two.csv {two} --ban colour=nothing",
        "bad-bins": f"two.csv {two} --bins y",
        "bad-target": f"two.csv {two} --target z",
        "bad-seen": "two.csv --factors colour,shape --seen split=practice",
        "bad-seen-column": "two.csv --factors colour,shape --seen part=train",
        "bad-salience": f"two.csv {two} --salience relu",
        "bad-layer": f"two.csv {two} --activations short.npy",
        "bad-both": f"two.csv {two} --activations layer.npy --salience relu:3",
        "bad-cells": f"two.csv {two} --cells cells.txt",
        "bad-page": f"two.csv {two} --html page.pdf",
        "bad-interest": f"two.csv {two} --interest all",
        "bad-option": f"two.csv {two} --nothing",
        "bad-missing": "two.csv --factors colour,shape",
    }
    plain = {"plain-animals": f"{animals} --target label", "plain-three": f"three.csv {three} --target y"}
    return [
        *commands("advise", "advise", good | bad),
        *commands("advise", "advise", plain, end=""),
        Case("advise", "frame", _advise_frames),
        Case("advise", "with-cells", _advise_with_cells),
    ]


def _advise_frames() -> Any:
    """The same split as a Polars frame, a pandas frame and a mapping."""
    import pandas as pd
    import polars as pl

    import recombine

    frame = pl.read_csv("ints.csv")
    columns = frame.to_dict(as_series=False)
    options = {"factors": ["colour", "shape"], "seen": "train", "target": "y"}
    forms = {"polars": frame, "pandas": pd.DataFrame(columns), "mapping": columns}
    return {name: call(lambda form=form: recombine.advise(form, **options)) for name, form in forms.items()}


def _advise_with_cells() -> Any:
    """The suggested cells of order 2 are added one by one, as in examples/add_cells.py."""
    import recombine

    advice = recombine.advise("animals.csv", factors=["colour", "shape", "size"], seen="split=train")
    result = [advice.to_dict(), advice.cells().to_dicts()]
    for cell in advice.additions().to_dicts():
        if cell.pop("order") == 2:
            advice = advice.with_cells([cell])
            result.append(advice.to_dict())
    return call(lambda: result)


PLANTED = {
    "numbers": (
        "lookup",
        "additive",
        "kernel",
        "composer",
        "noisy_composer",
        "constant",
        "shrunken",
        "scaled",
    ),
    "labels": ("lookup", "shortcut", "composer", "noisy_composer", "constant"),
    "images": ("lookup", "additive", "superposition", "composer", "constant"),
}


def audit_cases() -> list[Case]:
    columns = "--factors colour,animal --seen split=train --target label --prediction prediction"
    two = "--factors colour,shape --seen split=train --target y --prediction p"
    model = "--model golden_models:{} --data data.npz"
    good = {
        "predictions": f"predictions.csv {columns}",
        "predictions-seed": f"predictions.csv {columns} --seed 3 --cells out-cells.csv --html out-page.html",
        "predictions-no-target": "predictions.csv --factors colour,animal --seen split=train --prediction prediction",
        "predictions-bins": "wide.csv --factors colour,weight --bins weight=12 --seen train --target y "
        "--prediction price",
        "predictions-kind": f"ints.csv {two.replace(' p', ' price')} --kind regression --unordered colour",
        "predictions-itself": "three.csv --factors colour,shape,size --seen split=train --target y --prediction y",
        "predictions-numbers": "four.parquet --factors colour,shape,size,texture --seen train --target y,weight "
        "--prediction weight,y --cells out-cells.parquet",
        "model-composer": model.format("composer"),
        "model-broken": model.format("broken"),
        "model-chatty": model.format("chatty"),
        "model-output": model.format("pair") + " --output first",
        "model-named": "--model golden_models:composer --data named.npz --inputs u --target z --seen fit",
        "model-slots": model.format("composer") + " --slots '0;1'",
        "model-table": "ints.csv --factors colour,shape --seen train --target y --model golden_models:composer "
        "--inputs colour,shape",
        "model-activations": "--data said.npz --activations activity.npz --unordered colour",
        "model-weights": "--data said.npz --weights leaky.npz",
        "data-alone": "--data said.npz",
    }
    torch = {"model-torch": model.format("linear") + " --weights linear.safetensors --layers 0,1"}
    bad = {
        "bad-both": f"predictions.csv {columns} --data data.npz",
        "bad-neither": "",
        "bad-prediction": f"predictions.csv {columns}s",
        "bad-slots": f"predictions.csv {columns} --slots a;b",
        "bad-no-model": f"predictions.csv {columns} --layers conv1",
        "bad-data": "--data nothing.npz",
        "bad-factors": "--data data.npz --factors colour,size",
        "bad-module": "--data data.npz --model nothing_here:at_all",
        "bad-name": "--data data.npz --model golden_models:nothing",
        "bad-weights": f"predictions.csv {columns} --weights net.pt",
        "bad-layers": model.format("composer") + " --layers conv9",
        "bad-kind": f"predictions.csv {columns} --kind sorting",
        "bad-bins": f"predictions.csv {columns} --bins colour=4",
        "bad-unordered": f"predictions.csv {columns} --unordered taste",
        "bad-seed": f"predictions.csv {columns} --seed -1",
    }
    cases = [*commands("audit", "audit", good | bad), *commands("audit", "audit", torch, rtol=SINGLE)]
    cases += commands("audit", "audit", {"plain-predictions": f"predictions.csv {columns}"}, end="")
    for form, kinds in PLANTED.items():
        for seed, kind in enumerate(kinds):
            name = f"{kind.replace('_', '-')}-{form}"
            if form == "images":
                cases.append(
                    Case(
                        "audit", name, lambda kind=kind, seed=seed: _audit(data.planted(kind, "images", seed))
                    )
                )
            else:
                run = _audit_table(kind, form, seed + 30, f"{name}.{'csv' if seed % 2 else 'parquet'}", two)
                cases.append(Case("audit", name, run))
    shapes = {"three-factors": ((4, 3, 4), "kernel"), "four-factors": ((3, 3, 2, 3), "additive")}
    for seed, (name, (sizes, kind)) in enumerate(shapes.items()):
        run = lambda kind=kind, seed=seed, sizes=sizes: _audit(data.planted(kind, "numbers", seed, sizes))  # noqa: E731
        cases.append(Case("audit", f"{kind}-{name}", run))
    return cases


def _audit(arguments: dict[str, Any], **more: Any) -> Any:
    import recombine

    return call(lambda: recombine.audit(**arguments | more), cells=True)


def _audit_table(kind: str, form: str, seed: int, file: str, options: str) -> Callable[[], Any]:
    """A planted case that is written to a file and audited by the command."""

    def run() -> Any:
        from pathlib import Path

        data.write_predictions(Path(file), data.planted(kind, form, seed))
        return command(["audit", file, *shlex.split(options), "--json"])

    return run


def model_cases() -> list[Case]:
    from benchmarks.golden import models

    return [
        Case("models", name, lambda make=make: _audit(make()), rtol)
        for name, (make, rtol) in models.MODELS.items()
    ]


def modularity_cases() -> list[Case]:
    nets = ("blocks", "leaky", "partly", "two", "deep", "dead", "cut", "unequal", "weak", "dense", "tiny")
    lines = {name: f"{name}.npz" for name in nets}
    lines |= {
        "blocks-own": "blocks.npz --inputs own --outputs own",
        "blocks-inputs": "leaky.npz --inputs 0,1,1",
        "blocks-crossed": "blocks.npz --inputs own --outputs 1,0,2,3",
        "blocks-two": "blocks.npz --modules 2",
        "needed": "plain.npz --activation tanh --data needed.npz --inputs own --outputs own",
        "leaky-run": "leaky.npz --activation tanh --data run.npz --inputs own --outputs own --html out-page.html",
        "dead-run": "dead.npz --activation leaky_relu:0.1 --data run.npz",
        "leaky-activity": "leaky.npz --activations hidden.npz",
        "safetensors": "blocks.safetensors --orientation outputs-first",
        "convolutions": "convolutions.safetensors --orientation outputs-first",
        "bad-pickle": "net.pt",
        "bad-damaged": "damaged.safetensors",
        "bad-nan": "nan.npz",
        "bad-unfit": "unfit.npz",
        "bad-turned": "blocks.safetensors",
        "bad-inputs": "blocks.npz --inputs 0,1",
        "bad-outputs": "blocks.npz --outputs own",
        "bad-activation": "leaky.npz --activation sine --data run.npz",
        "bad-modules": "blocks.npz --modules 1",
    }
    return [
        *commands("modularity", "modularity", lines),
        *commands("modularity", "modularity", {"plain-leaky": "leaky.npz"}, end=""),
        Case("modularity", "example", _modularity_example),
    ]


def _modularity_example() -> Any:
    """The two nets of examples/modularity_report.py, and the modules of the first as separate nets."""
    import recombine

    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(300, 3))
    y, reports = np.sin(x * np.linspace(0.8, 1.6, 3)), {}
    for name, own in (("parts", np.arange(30) % 3 == np.arange(3)[:, None]), ("mixed", 0.5)):
        first, bias = rng.normal(size=(3, 30)) * own, rng.normal(size=30)
        activity = np.tanh(x @ first + bias)
        second = np.linalg.solve(activity.T @ activity + 0.5 * np.eye(30), activity.T @ y)
        options = {"biases": [bias, np.zeros(3)], "activation": "tanh", "x": x, "y": y}
        report = recombine.modularity_report([first, second], **options, inputs="own", outputs="own")
        reports[name] = report.to_dict()
        if name == "parts":
            reports["alone"] = [part(x).mean(axis=0) for part in report.extract()]
    return call(lambda: reports)


def interaction_cases() -> list[Case]:
    from benchmarks.golden import decoders

    return [Case("interaction", name, run, rtol) for name, (run, rtol) in decoders.cases().items()]


def slow_cases() -> list[Case]:
    studies = ("forced-rendering", "kernel-theory", "poisson-modularity", "interaction-asymmetry")
    lines = {
        "all": "",
        "paper": "--scale paper",
        "one": "kernel-theory --scale smoke",
        "bad-study": "nothing",
    }
    lines |= {"bad-scale": "--scale huge"}
    bad = {
        "reproduce-bad-study": "forced-drawing",
        "reproduce-bad-scale": "forced-rendering --scale huge",
        "reproduce-bad-claim": "forced-rendering --claim 99",
        "reproduce-bad-jobs": "forced-rendering --claim 1 --jobs -1",
        "reproduce-bad-out": "forced-rendering --out page.pdf",
    }
    return [
        *commands("claims", "claims --store empty-store", lines),
        *commands("claims", "reproduce", bad),
        *(Case("studies", name, lambda name=name: study(name), TRAINED) for name in studies),
        Case("planted", "matrix", planted_matrix),
    ]
