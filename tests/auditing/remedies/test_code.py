"""Every snippet of a remedy runs as it stands, in every framework."""

import sys

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.remedies import (
    architecture_remedies,
    data_remedies,
    simple_model_remedies,
    training_remedies,
)

FRAMEWORKS = ("torch", "jax", "sklearn", "predictions")
CODE = {
    name: code
    for module in (data_remedies, architecture_remedies, simple_model_remedies, training_remedies)
    for name, code in vars(module).items()
    if name.endswith("_code")
}
"""Every function that writes code for a remedy, so that a new one is tested without being listed here."""


def surroundings(framework):
    """What a user has at hand: data, a net, and a report."""
    from recombine import Part
    from recombine.tasks import bump_code, bump_images

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 16)).astype(np.float32), rng.normal(size=(8, 2)).astype(np.float32)
    label = np.arange(8) % 2
    first, second = np.indices((4, 4)).reshape(2, -1)
    seen = (first + second) % 3 > 0
    truth = first * second * 1.0
    report = audit(
        factors={"a": first, "b": second}, seen=seen, target=truth, prediction=np.where(seen, truth, 0.0)
    )
    level = np.array(["r", "r", "r", "b"] * 2)
    numbers = rng.integers(3, size=(8, 2))
    space = {"x": x, "y": y, "label": label, "classes": 2, "levels": (8, 8), "slots": 2, "report": report}
    space |= {
        "numbers": numbers,
        "level": level,
        "render": Part(bump_images, n=8),
        "encode": Part(bump_code, n=8),
        "loss": 0.0,
    }
    if framework == "torch":
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        codes = torch.eye(8).repeat(1, 2)
        space |= {
            "x": torch.tensor(x),
            "y": torch.tensor(y),
            "label": torch.tensor(label),
            "net": net,
            "codes": codes,
        }
    else:
        import equinox as eqx
        import jax
        from sklearn.linear_model import LogisticRegression

        space["net"] = eqx.nn.MLP(
            16, 2, width_size=8, depth=1, activation=jax.numpy.tanh, key=jax.random.key(0)
        )
        space["model"] = LogisticRegression()
        if framework == "sklearn":
            space["y"] = label * 1.0
    return space


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", sorted(set(CODE) - {"balance_code"}))
def test_snippets_run(name, framework, capsys):
    space = surroundings(framework)
    if name == "single_factors_code":  # images instead of vectors
        module = sys.modules.get("torch") if framework == "torch" else None
        for key, shape in (("x", (8, 16)), ("y", (8, 8, 8))):
            empty = np.zeros(shape, dtype=np.float32)
            space[key] = module.tensor(empty) if module else empty
    if name == "forced_rendering_code" and framework == "torch":
        import torch

        space["y"] = torch.zeros(8, 8, 8)
    exec(compile(CODE[name](framework), name, "exec"), space)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_balanced_weights_run(framework):
    exec(
        compile(data_remedies.balance_code(framework, ["colour"]), "balance", "exec"), surroundings(framework)
    )


def test_factors_that_meet_in_a_product_do_compose():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    size, weight = np.indices((8, 8)).reshape(2, -1)
    x = torch.tensor(np.concatenate([np.eye(8)[size], np.eye(8)[weight]], axis=1), dtype=torch.float32)
    y = torch.tensor(size * weight / 10, dtype=torch.float32)[:, None]
    seen = torch.tensor(np.random.default_rng(0).random(64) < 0.6)
    space = {"x": x, "y": y, "levels": (8, 8)}
    exec(compile(architecture_remedies.interactions_code("torch"), "interactions", "exec"), space)
    net = space["net"]
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(1500):
        loss = ((net(x[seen]) - y[seen]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        off = ((net(x) - y) ** 2)[~seen].mean() / y[~seen].var()
    assert off < 0.1
