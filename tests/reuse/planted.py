"""Networks that were trained further in a way whose regime is known without looking at representations.

All start from a network that was trained on six rectified features of its inputs; the new task needs one of them or
two, and zeros for the others. The truth is known by construction, or from the teacher's features:

- probe: only the readout is trained, so the hidden layers are the same.
- linearised: everything is trained, on outputs that are multiplied by a large factor; weights then hardly move (Chizat
  et al. 2019).
- selected: units that a lasso readout does not use are removed, then everything is trained; removed units get no
  gradient.
- shrunken: everything is trained from halved weights; counted if most of the result comes from units that had its
  teacher's features before.
- scratch: another initialisation is trained on the new task, so nothing is shared.
- reset: the hidden layers are drawn again and the readout is kept, then everything is trained; no feature is shared.
"""

import itertools
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
from sklearn.linear_model import lasso_path
from torch import nn

from recombine.nets import mlp

TRUTH = {
    "probe": "lazy",
    "linearised": "lazy",
    "selected": "nested",
    "shrunken": "nested",
    "scratch": "rich",
    "reset": "rich",
}
FEATURES, INPUTS = 6, 15
MAX_SURVIVORS = 0.25
"""A selection leaves at most this share of the units."""
SAME_FEATURE = 0.9
"""Cosine with a teacher's feature from which a unit has it."""
MOST = 0.5

Weights = list[tuple[np.ndarray, np.ndarray]]
"""Matrices, inputs first, and biases, from input to output."""


@dataclass(frozen=True)
class Design:
    """What varies between cases."""

    framework: str
    width: int
    depth: int
    needed: int
    noise: float
    rows: int
    seed: int

    @classmethod
    def drawn(cls, seed, *, width=None, depth=None):
        rng = np.random.default_rng([7, seed])
        return cls(
            framework=("torch", "jax")[seed % 2],
            width=width or int(rng.choice([64, 100, 160])),
            depth=depth or int(rng.integers(1, 4)),
            needed=int(rng.integers(1, 3)),
            noise=float(rng.choice([0.0, 0.1])),
            rows=int(rng.choice([300, 600, 1000])),
            seed=seed,
        )


@dataclass(frozen=True)
class Case:
    kind: str
    before: object
    after: object
    inputs: np.ndarray
    design: Design

    @property
    def truth(self):
        return TRUTH[self.kind]


def cases(design, kinds=tuple(TRUTH), steps=500):
    """Cases of one design, which share the network before; without shrunken ones whose truth is not known."""
    rng = np.random.default_rng([8, design.seed])
    features = np.linalg.qr(rng.normal(size=(INPUTS, FEATURES)))[0]  # (inputs, features), orthonormal

    def task(rows, needed):
        x = rng.normal(size=(rows, INPUTS)).astype(np.float32)
        y = np.maximum(x @ features, 0) * (np.arange(FEATURES) < needed)
        return x, (2 * y + design.noise * rng.normal(size=y.shape)).astype(np.float32)

    def fit(weights, data, count=steps, **how):
        return train(weights, *data, steps=count, framework=design.framework, seed=design.seed, **how)

    old, new = task(2000, FEATURES), task(400, design.needed)
    inputs = task(design.rows, 1)[0]
    before = fit(drawn(design, rng), old, count=3 * steps, rate=2e-3)
    for kind in kinds:
        if kind == "probe":
            after = fit(before, new, hidden=False)
        elif kind == "linearised":
            after = fit(before, new, scale=100.0, count=steps // 4)
        elif kind == "selected":
            after = fit(selected(before, new), new, rate=3e-4, count=steps // 4)
        elif kind == "shrunken":
            if design.depth > 1:  # features of deeper layers are not the teacher's
                continue
            after = fit([(0.5 * w, 0.5 * b) for w, b in before], new, count=2 * steps)
            if not same_features(before, after, features[:, : design.needed]):
                continue
        elif kind == "scratch":
            after = fit(drawn(design, rng), new)
        else:
            after = fit([*drawn(design, rng)[:-1], before[-1]], new)
        yield Case(kind, as_model(before, design), as_model(after, design), inputs, design)


def drawn(design, rng):
    """He's initialisation, scaled down: networks with small weights learn the features of their task."""
    small = 0.1 if design.depth == 1 else 0.5
    sizes = [INPUTS, *[design.width] * design.depth, FEATURES]
    weights = []
    for n, m in itertools.pairwise(sizes):
        spread = small * np.sqrt(2 / n)
        weights.append(((rng.normal(size=(n, m)) * spread).astype(np.float32), np.zeros(m, dtype=np.float32)))
    return weights


def selected(weights, data):
    """The network with only those last hidden units that a lasso readout uses for the new task."""
    hidden = data[0]
    for w, b in weights[:-1]:
        hidden = np.maximum(hidden @ w + b, 0)
    target = data[1].sum(axis=1)
    target = target - target.mean()
    size = hidden.std(axis=0) + 1e-6
    centred = (hidden - hidden.mean(axis=0)) / size
    strengths = np.abs(centred.T @ target).max() / len(target) * np.geomspace(0.9, 1e-3, 25)
    _, path, _ = lasso_path(centred, target, alphas=strengths, max_iter=2000, tol=1e-3)
    few = ((path != 0).mean(axis=0) <= MAX_SURVIVORS) & (path != 0).any(axis=0)
    used = path[:, np.flatnonzero(few)[-1]] != 0  # the weakest penalty that leaves few units
    with_ones = np.concatenate([hidden * used, np.ones((len(hidden), 1))], axis=1)
    readout = np.linalg.solve(with_ones.T @ with_ones + np.eye(len(with_ones.T)), with_ones.T @ data[1])
    readout = readout.astype(np.float32)
    (w, b) = weights[-2]
    return [*weights[:-2], (w * used, b * used), (readout[:-1] * used[:, None], readout[-1])]


def same_features(before, after, features):
    """Whether most of the result comes from units with a needed feature, most of which had that feature before.

    (At chance none had: directions in 15 dimensions rarely have a cosine of 0.9 with one of two others.)
    """
    (old, _), (new, _), (readout, _) = before[0], after[0], after[1]

    def cosines(w):
        return (w.T @ features) / (np.linalg.norm(w, axis=0)[:, None] + 1e-12)  # (units, features)

    had, has = cosines(old) >= SAME_FEATURE, cosines(new) >= SAME_FEATURE
    magnitude = np.linalg.norm(new, axis=0) * np.linalg.norm(readout, axis=1)
    needed, kept = magnitude[has.any(axis=1)].sum(), magnitude[(had & has).any(axis=1)].sum()
    return needed >= MOST * magnitude.sum() and kept >= MOST * needed


def train(weights, x, y, *, steps, framework, seed, hidden=True, scale=1.0, rate=1e-3, batch=64):
    """Adam on random batches; `scale` multiplies the change of the outputs, so that weights need not move."""
    batches = np.random.default_rng([9, seed]).integers(len(x), size=(steps, batch))
    run = _train_torch if framework == "torch" else _train_jax
    return run(weights, x, y, batches, hidden, scale, rate)


def _train_torch(weights, x, y, batches, hidden, scale, rate):
    net = _torch(weights)
    start = _torch(weights)
    x, y = torch.tensor(x), torch.tensor(y)
    for layer in list(net)[:-1]:
        layer.requires_grad_(hidden)
    with torch.no_grad():
        offset = start(x) * (scale - 1)
    optimiser = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=rate / scale)
    for rows in torch.tensor(batches):
        optimiser.zero_grad()
        ((scale * net(x[rows]) - offset[rows] - y[rows]) ** 2).mean().backward()
        optimiser.step()
    layers = [layer for layer in net if isinstance(layer, nn.Linear)]
    return [(one.weight.detach().numpy().T.copy(), one.bias.detach().numpy().copy()) for one in layers]


def _train_jax(weights, x, y, batches, hidden, scale, rate):
    free = weights if hidden else weights[-1:]
    fixed = [] if hidden else weights[:-1]
    found = _descend(free, fixed, x, y, batches, scale, rate)
    return [(np.asarray(w), np.asarray(b)) for w, b in (*fixed, *found)]


@eqx.filter_jit
def _descend(free, fixed, x, y, batches, scale, rate):
    def outputs(free, x):
        layers = [*fixed, *free]
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    free = jax.tree.map(jnp.asarray, free)
    optimiser = optax.adam(rate / scale)
    offset = outputs(free, x) * (scale - 1)

    def step(state, rows):
        values, memory = state

        def loss(values):
            return jnp.mean((scale * outputs(values, x[rows]) - offset[rows] - y[rows]) ** 2)

        updates, memory = optimiser.update(jax.grad(loss)(values), memory)
        return (optax.apply_updates(values, updates), memory), None

    (found, _), _ = jax.lax.scan(step, (free, optimiser.init(free)), jnp.asarray(batches))
    return found


def as_model(weights, design):
    """The weights as a model of the design's framework."""
    if design.framework == "torch":
        return _torch(weights)
    net = mlp(inputs=INPUTS, width=design.width, depth=design.depth, outputs=FEATURES, key=jax.random.key(0))
    values = [jnp.asarray(value) for layer in weights for value in layer]
    return eqx.tree_at(_arrays, net, values)


def _arrays(net):
    from recombine.nets import links

    return [value for link in links(net) for value in (link.layer.weight, link.layer.bias)]


def _torch(weights):
    parts = []
    for w, b in weights:
        layer = nn.Linear(*w.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(w.T))
            layer.bias.copy_(torch.tensor(b))
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])
