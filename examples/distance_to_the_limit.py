"""A PyTorch classifier of digits: how far is it from where training would end, and what explains its predictions?"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from recombine import implicit_bias_report


def train(net: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int) -> None:
    """Your own loop: plain gradient descent with momentum."""
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y).backward()
        optimiser.step()


def main(steps: int = 3000) -> None:
    torch.manual_seed(0)
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.data))
    x, low = (digits.data[order] / 8 - 1).astype(np.float32), (digits.target[order] < 5).astype(int)
    net = nn.Sequential(nn.Linear(64, 50, bias=False), nn.ReLU(), nn.Linear(50, 1, bias=False))
    for more in (steps // 10, steps):
        train(net, torch.as_tensor(x[:300]), torch.as_tensor(low[:300], dtype=torch.float32), more)
        report = implicit_bias_report(
            net, x[:300], low[:300], others=x[300:1300], other_targets=low[300:1300], name="digits below 5"
        )
        ratio = report.distance.ratio if report.distance else float("nan")
        print(f"after {more} more steps: norm {ratio:.2f} times the smallest\n")
    print(report)


if __name__ == "__main__":
    main()
