"""Does a classifier of coloured digits use the digit, or the colour that went with it in training?

The task is to tell whether a noisy digit is even or odd. In training red and orange digits are even, and green and blue
ones are odd; only violet ones are both. Colour is enough for most training images, so a model may never learn to read
digits in other colours. Combinations such as a red 3 are left out of training and show which of the two it uses.

It needs PyTorch: pip install "recombine[torch]".
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import recombine

COLOURS = {
    "red": (1.0, 0.2, 0.2),
    "orange": (1.0, 0.6, 0.1),
    "green": (0.2, 0.9, 0.3),
    "blue": (0.2, 0.4, 1.0),
    "violet": (0.7, 0.3, 0.9),
}
TRAINED = {"red": "0246", "orange": "0468", "green": "1357", "blue": "3579", "violet": "0123456789"}


def coloured_digits(n: int, noise: float, rng: np.random.Generator):
    """Images (rows, 3, 8, 8), and the colour and the digit of every row."""
    images, digit = load_digits(return_X_y=True)
    rows = rng.permutation(len(digit))[:n]
    colour = rng.choice(list(COLOURS), len(rows))
    paint = np.array([COLOURS[name] for name in colour])
    images = images[rows].reshape(-1, 1, 8, 8) / 16 * paint[:, :, None, None]
    images = images + rng.normal(0, noise, images.shape)
    return images.astype(np.float32), colour, digit[rows]


def train(net: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int) -> None:
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net.train()
    for _ in range(steps):
        batch = torch.randint(len(x), (64,))
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    net.eval()


def main(
    steps: int = 3000, n: int = 1797, width: int = 16, noise: float = 0.4, html: str | None = None
) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x, colour, digit = coloured_digits(n, noise, rng)
    y = np.where(digit % 2 == 0, "even", "odd")
    trained = np.array([str(d) in TRAINED[c] for c, d in zip(colour, digit, strict=True)])
    seen = trained & (rng.random(len(y)) < 0.8)  # a fifth of the rows of seen cells is kept for testing
    about = {"factors": {"colour": colour, "digit": digit}, "seen": seen, "target": y, "unordered": ["digit"]}

    net = nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(2 * width * 16, 64),
        nn.ReLU(),
        nn.Linear(64, 2),
    )
    train(net, torch.from_numpy(x[seen]), torch.from_numpy((y[seen] == "odd").astype(np.int64)), steps)
    report = recombine.audit(model=net, inputs=x, classes=["even", "odd"], **about)
    print("A convolutional net in PyTorch\n")
    print(report)
    if html:
        report.page().write(html)

    flat = x.reshape(len(x), -1)
    pipeline = make_pipeline(StandardScaler(), MLPClassifier((4 * width,), max_iter=500, random_state=0))
    pipeline.fit(flat[seen], y[seen])
    print("\n\nA multilayer perceptron in scikit-learn\n")
    print(recombine.audit(model=pipeline, inputs=flat, **about))


if __name__ == "__main__":
    main()
