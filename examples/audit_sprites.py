"""Can an autoencoder copy sprites whose shape, colour and place it knows, in combinations that it never saw?

A convolutional autoencoder in PyTorch compresses small colour images to a few units. A quarter of the combinations
of shape, colour and place is left out of training, and the audit compares how well it copies these and the others.

It needs PyTorch: pip install "recombine[torch]".
"""

import numpy as np
import torch
from torch import nn

import recombine

SIZE = 24
COLOURS = {
    "red": (0.9, 0.2, 0.2),
    "yellow": (0.9, 0.8, 0.2),
    "green": (0.2, 0.7, 0.3),
    "blue": (0.2, 0.4, 0.9),
    "white": (1.0, 1.0, 1.0),
}
SHAPES = {  # which points are inside, by distance from the centre to the right and down
    "square": lambda right, down: np.maximum(abs(right), abs(down)) < 3.6,
    "disc": lambda right, down: right**2 + down**2 < 4.2**2,
    "cross": lambda right, down: (
        (np.minimum(abs(right), abs(down)) < 1.4) & (np.maximum(abs(right), abs(down)) < 4.6)
    ),
    "triangle": lambda right, down: (abs(down) < 4) & (abs(right) < (down + 4) / 1.7),
}
PLACES = ("left", "middle", "right")


def draw(shape: np.ndarray, colour: np.ndarray, place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images (rows, 3, size, size); the height and the exact place vary within a combination."""
    pixel = np.arange(SIZE) + 0.5
    across = 5 + 7 * np.array([PLACES.index(name) for name in place]) + rng.uniform(-1, 1, len(shape))
    height = rng.uniform(6, SIZE - 6, len(shape))
    images = np.zeros((len(shape), 3, SIZE, SIZE), dtype=np.float32)
    for i, (name, paint) in enumerate(zip(shape, colour, strict=True)):
        inside = SHAPES[name](pixel[None, :] - across[i], pixel[:, None] - height[i])
        images[i] = np.where(inside, np.array(COLOURS[paint])[:, None, None], 0.0)
    return images


class Autoencoder(nn.Module):
    def __init__(self, width: int, code: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2 * width * 36, code),
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 2 * width * 36),
            nn.ReLU(),
            nn.Unflatten(1, (2 * width, 6, 6)),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(width, 3, 4, stride=2, padding=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(x))


def main(
    steps: int = 2000, copies: int = 24, width: int = 16, code: int = 12, html: str | None = None
) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    cells = np.array(np.meshgrid(list(SHAPES), list(COLOURS), PLACES)).reshape(3, -1)
    trained = (np.indices((5, 4, 3)).sum(axis=0) % 4 > 0).ravel()
    shape, colour, place = np.repeat(cells, copies, axis=1)
    seen = np.repeat(trained, copies) & (
        np.arange(len(shape)) % 4 > 0
    )  # a quarter of the rows is for testing
    images = torch.from_numpy(draw(shape, colour, place, rng))

    net = Autoencoder(width, code)
    optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)
    rows = torch.from_numpy(np.flatnonzero(seen))
    for _ in range(steps):
        batch = rows[torch.randint(len(rows), (64,))]
        loss = ((net(images[batch]) - images[batch]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    report = recombine.audit(
        factors={"shape": shape, "colour": colour, "place": place},
        seen=seen,
        target=images.numpy(),
        model=net,
        inputs=images.numpy(),
        layers=["encoder.1", "encoder.3", "encoder.5", "decoder.1", "decoder.4"],
    )
    print(report)
    if html:
        report.page().write(html)


if __name__ == "__main__":
    main()
