"""Can a decoder draw a bump at positions whose x and y it knows, but never saw together?

A standard decoder in PyTorch turns codes of x and y into images of one bump. Training shows every x and every y, but
leaves out a square of combinations in the middle. The audit says what the decoder draws there, and why.

It needs PyTorch: pip install "recombine[torch]".
"""

import numpy as np
import torch
from torch import nn

from recombine import audit
from recombine.tasks import bump_code, bump_images


def main(steps: int = 3000, n: int = 16, width: int = 32, html: str | None = None) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = np.indices((n, n)).reshape(2, -1)
    positions = np.stack([x, y], axis=1)
    codes = torch.from_numpy(bump_code(positions, n).astype(np.float32))  # n units for x, then n for y
    images = torch.from_numpy(bump_images(positions, n, sigma=1.5, polarity="bright"))
    low, high = n // 5, n - n // 5
    seen = ~((x >= low) & (x < high) & (y >= low) & (y < high))

    decoder = nn.Sequential(
        nn.Linear(2 * n, 2 * width * (n // 4) ** 2),
        nn.ReLU(),
        nn.Unflatten(1, (2 * width, n // 4, n // 4)),
        nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        nn.Flatten(0, 1),
    )
    optimiser = torch.optim.Adam(decoder.parameters(), lr=1e-3)
    rows = torch.from_numpy(np.flatnonzero(seen))
    for _ in range(steps):
        batch = rows[torch.randint(len(rows), (64,))]
        loss = ((decoder(codes[batch]) - images[batch]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    report = audit(
        factors={"x": x, "y": y},
        seen=seen,
        target=images.numpy(),
        model=decoder,
        inputs=codes.numpy(),
        slots=2,
    )
    print(report)
    if html:
        report.page().write(html)


if __name__ == "__main__":
    main()
