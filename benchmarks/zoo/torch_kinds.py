"""PyTorch networks on levels: embeddings, products, multilayer perceptrons, modular arithmetic, sequences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design, one_hot
from benchmarks.zoo.sample import Fit, Fitted, Sample, noisy_labels, noisy_numbers

Encode = Callable[[np.ndarray, Design], torch.Tensor]


def as_levels(cells: np.ndarray, design: Design) -> torch.Tensor:
    """Level numbers, for embeddings."""
    return torch.as_tensor(cells)


def as_codes(cells: np.ndarray, design: Design) -> torch.Tensor:
    """One-hot codes."""
    return torch.as_tensor(one_hot(cells, design.sizes), dtype=torch.float32)


def network(
    make: Callable[[Design, int], nn.Module],
    encode: Encode,
    *,
    steps: int = 300,
    rate: float = 0.01,
    decay: float = 0.0,
) -> Fit:
    """Trains a network by Adam on all training rows at once; quantities are standardised for it.

    **Arguments:**

    - `make`: from the design and the number of outputs or classes to a network.
    """

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        torch.manual_seed(seed)
        y, labels = target[design.train], target.ndim == 1
        mean, scale = (np.zeros(1), np.ones(1)) if labels else (y.mean(axis=0), y.std(axis=0) + 1e-9)
        net = make(design, int(target.max()) + 1 if labels else target.shape[1])
        x = encode(design.cells[design.cell[design.train]], design)
        goal = torch.as_tensor(
            y if labels else (y - mean) / scale, dtype=torch.long if labels else torch.float32
        )
        optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay)
        loss = nn.functional.cross_entropy if labels else nn.functional.mse_loss
        for _ in range(steps):
            optimiser.zero_grad()
            torch.autograd.backward(loss(net(x), goal))
            optimiser.step()
        net.eval()

        def predict(cells: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                out = net(encode(cells, design)).numpy().astype(float)
            return out.argmax(axis=1) if labels else out * scale + mean

        return Fitted(predict)

    return fit


class Embeddings(nn.Module):
    """Embeds every factor; then adds, multiplies or joins the embeddings."""

    def __init__(self, design: Design, outputs: int, width: int, how: str) -> None:
        super().__init__()
        tables = [nn.Embedding(size, width) for size in design.sizes]
        self.tables = nn.ModuleList(tables)
        self.how = how
        self.read = nn.Linear(width, outputs)
        if how == "product":
            for table in tables:
                nn.init.normal_(table.weight, mean=0.5, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = torch.stack([table(x[:, i]) for i, table in enumerate(self.tables)])
        return self.read(parts.prod(dim=0) if self.how == "product" else parts.sum(dim=0))


def perceptron(width: int, depth: int = 2) -> Callable[[Design, int], nn.Module]:
    """A ReLU network on one-hot codes."""

    def make(design: Design, outputs: int) -> nn.Module:
        sizes = [sum(design.sizes), *[width] * depth]
        layers: list[nn.Module] = []
        for one, other in pairwise(sizes):
            layers += [nn.Linear(one, other), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))

    return make


def product_net(rng: np.random.Generator) -> Sample:
    """One number per level, multiplied: the right form for a product."""
    design = draw_design(rng, factors=(2, 3))
    clean = tasks.products(rng, design, low=-1.0)
    target, noise = noisy_numbers(rng, design, clean)
    net = network(
        lambda design, outputs: Embeddings(design, outputs, 1, "product"), as_levels, steps=600, rate=0.03
    )
    return Sample(design, clean, target, net, noise)


def bilinear_net(rng: np.random.Generator) -> Sample:
    """Two factors whose embeddings have an inner product, on a table of rank 2."""
    design = draw_design(
        rng, factors=(2,), levels=(8, 14), cells=(80, 200), unseen=(0.12, 0.25), rows=(2, 4, 8)
    )
    clean = tasks.bilinear(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    net = network(
        lambda design, outputs: Embeddings(design, outputs, 2, "product"), as_levels, steps=800, rate=0.03
    )
    return Sample(design, clean, target, net, noise)


def embedding_sum(rng: np.random.Generator) -> Sample:
    """A bag of embeddings on a sum, with several outputs."""
    design = draw_design(rng, factors=(2, 3, 4))
    clean = tasks.sums(rng, design, int(rng.integers(1, 4)))
    target, noise = noisy_numbers(rng, design, clean)
    net = network(
        lambda design, outputs: Embeddings(design, outputs, 8, "sum"), as_levels, steps=300, rate=0.02
    )
    return Sample(design, clean, target, net, noise)


def perceptron_sum(rng: np.random.Generator) -> Sample:
    """A perceptron with weight decay on a sum: it nearly adds."""
    design = draw_design(rng, factors=(2, 3), cells=(100, 260), unseen=(0.1, 0.25), rows=(2, 4, 8))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1, 0.2))
    return Sample(design, clean, target, network(perceptron(64, 1), as_codes, steps=400, decay=0.3), noise)


def perceptron_product(rng: np.random.Generator) -> Sample:
    """A perceptron on one-hot codes that knows the seen cells of a product, and adds elsewhere."""
    design = draw_design(rng, factors=(2,), levels=(7, 11), rows=(1, 2, 4))
    clean = tasks.products(rng, design, low=float(rng.uniform(-1.0, -0.2)))
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    return Sample(design, clean, target, network(perceptron(128, 1), as_codes, steps=500), noise)


def circle_modular(rng: np.random.Generator) -> Sample:
    """Modular addition from angles: levels are points on circles, which a product of embeddings can add."""
    size = int(rng.integers(8, 14))
    design = draw_design(rng, sizes=(size, size), ordered=True, rows=(1, 2, 4))
    clean = tasks.modular_labels(design)

    def angles(cells: np.ndarray, design: Design) -> torch.Tensor:
        turn = 2 * np.pi * cells.sum(axis=1)[:, None] * np.arange(1, 4) / size
        return torch.as_tensor(np.concatenate([np.cos(turn), np.sin(turn)], axis=1), dtype=torch.float32)

    net = network(lambda design, outputs: nn.Linear(6, outputs), angles, steps=400, rate=0.1)
    return Sample(design, clean, clean[design.cell], net, "no noise")


def colour_bias(rng: np.random.Generator) -> Sample:
    """Labels by shape, of which training shows mostly one colour each; a network that finds the colour first."""
    sizes = (int(rng.integers(6, 9)), int(rng.integers(6, 9)))
    classes = int(rng.integers(2, 4))
    colour, shape = tasks.group_labels(rng, sizes[0], classes), tasks.group_labels(rng, sizes[1], classes)
    space = np.indices(sizes).reshape(2, -1).T
    agree = colour[space[:, 0]] == shape[space[:, 1]]
    design = draw_design(rng, sizes=sizes, rows=(4, 8), unseen=(0.4, 0.5), favour=np.where(agree, 30.0, 1.0))
    clean = shape[design.cells[:, 1]]
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1))

    def loud_colour(cells: np.ndarray, design: Design) -> torch.Tensor:
        """Colour is on all channels, shape on one: the easier one is learned first."""
        parts = np.eye(sizes[0])[cells[:, 0]] * 3.0, np.eye(sizes[1])[cells[:, 1]] * 0.2
        return torch.as_tensor(np.concatenate(parts, axis=1), dtype=torch.float32)

    return Sample(design, clean, target, network(perceptron(32, 1), loud_colour, steps=60, rate=0.01), noise)


def barely_trained(rng: np.random.Generator) -> Sample:
    """A network after a handful of steps."""
    design = draw_design(rng)
    clean = tasks.sums(rng, design) if rng.random() < 0.5 else tasks.products(rng, design)
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(
        design, clean, target, network(perceptron(32, 2), as_codes, steps=int(rng.integers(4, 12))), noise
    )


class CommutativeReader(nn.Module):
    """One layer of attention over two tokens without positions, so (a, b) and (b, a) are the same to it."""

    def __init__(self, design: Design, outputs: int, width: int = 48) -> None:
        super().__init__()
        self.tokens = nn.Embedding(max(design.sizes), width)
        self.mix = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.read = nn.Linear(width, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.read(self.mix(self.tokens(x)).mean(dim=1))


def transformer_modular(rng: np.random.Generator) -> Sample:
    """Modular addition by a small transformer that learned commutativity and nothing else of the rule."""
    size = int(rng.integers(9, 13))
    design = draw_design(rng, sizes=(size, size), ordered=True, rows=(1,), unseen=(0.4, 0.5))
    clean = tasks.modular_labels(design)
    net = network(CommutativeReader, as_levels, steps=120, rate=0.003)
    return Sample(design, clean, clean[design.cell], net, "no noise")


class SequenceReader(nn.Module):
    """A gated recurrent network on tokens; at times it forgets all but the last one."""

    def __init__(self, design: Design, outputs: int, *, last_only: bool = False, width: int = 32) -> None:
        super().__init__()
        self.offsets = torch.as_tensor(np.r_[0, np.cumsum(design.sizes)[:-1]])
        self.tokens = nn.Embedding(sum(design.sizes), width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.read = nn.Linear(width, outputs)
        self.last_only = last_only

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.tokens(x + self.offsets)
        return self.read(self.cell(tokens[:, -1:] if self.last_only else tokens)[0][:, -1])


def recurrent_sum(rng: np.random.Generator) -> Sample:
    """Sequences of tokens with a value each, of which a recurrent network predicts the sum."""
    design = draw_design(rng, factors=(3, 4), levels=(4, 6), cells=(120, 300), unseen=(0.1, 0.2), rows=(2, 4))
    clean = tasks.sums(rng, design)
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    net = network(SequenceReader, as_levels, steps=200, rate=0.01, decay=0.1)
    return Sample(design, clean, target, net, noise)


def recurrent_forgets(rng: np.random.Generator) -> Sample:
    """Labels of sequences by a network whose state is reset before the last token."""
    design = draw_design(rng, factors=(2, 3), levels=(5, 8), rows=(1, 2, 4))
    clean = tasks.score_labels(rng, design, int(rng.integers(2, 4)))
    net = network(
        lambda d, outputs: SequenceReader(d, outputs, last_only=True), as_levels, steps=120, rate=0.01
    )
    return Sample(design, clean, clean[design.cell], net, "no noise")


class CellTable(nn.Module):
    """An embedding of every whole cell, as of an identifier; those that training never updates stay random."""

    def __init__(self, design: Design, outputs: int, width: int = 16) -> None:
        super().__init__()
        self.sizes = design.sizes
        self.cells = nn.Embedding(int(np.prod(design.sizes)), width)
        self.read = nn.Sequential(nn.ReLU(), nn.Linear(width, outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        code = torch.zeros(len(x), dtype=torch.long)
        for axis, size in enumerate(self.sizes):
            code = code * size + x[:, axis]
        return self.read(self.cells(code))


def identifier_net(rng: np.random.Generator) -> Sample:
    """A network on an identifier of the combination: right on seen cells, random elsewhere."""
    design = draw_design(rng, rows=(1, 2, 4))
    labels = rng.random() < 0.5
    clean = tasks.score_labels(rng, design, 3) if labels else tasks.sums(rng, design)
    target, noise = (noisy_labels if labels else noisy_numbers)(rng, design, clean, (0.0,))
    return Sample(design, clean, target, network(CellTable, as_levels, steps=200, rate=0.03), noise)


KINDS = {
    one.__name__: one
    for one in (
        product_net,
        bilinear_net,
        embedding_sum,
        perceptron_sum,
        perceptron_product,
        circle_modular,
        colour_bias,
        barely_trained,
        transformer_modular,
        recurrent_sum,
        recurrent_forgets,
        identifier_net,
    )
}
