"""A PyTorch model is finetuned on a task that needs one of its six features: diagnose it, then shrink its weights."""

import copy

import torch
from torch import nn

from recombine import reuse_report
from recombine.remedies import rescale, search_rescaling
from recombine.tasks import relu_teachers, teacher_task


def train(net: nn.Module, x, y, steps: int) -> nn.Module:
    """Your own loop: Adam on random batches."""
    net, x, y = copy.deepcopy(net), torch.as_tensor(x), torch.as_tensor(y)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(steps):
        rows = torch.randint(len(x), (min(64, len(x)),))
        optimiser.zero_grad()
        ((net(x[rows]) - y[rows]) ** 2).mean().backward()
        optimiser.step()
    return net


def error(net: nn.Module, x, y) -> float:
    """As a share of predicting zero."""
    with torch.no_grad():
        y = torch.as_tensor(y)
        return float(((net(torch.as_tensor(x)) - y) ** 2).mean() / (y**2).mean())


def main(steps: int = 2500) -> None:
    torch.manual_seed(0)
    pair = relu_teachers((1.0,), amplitude="1/k")  # the new task is one of the six features of the old one
    old, new = (
        teacher_task(pair.aux, train=2000, test=1),
        teacher_task(pair.main, train=100, test=1000, seed=1),
    )
    x, y = new.inputs[new.train], new.targets[new.train]
    test = new.inputs[new.rows_out], new.targets[new.rows_out]
    net = nn.Sequential(nn.Linear(15, 200), nn.ReLU(), nn.Linear(200, 1))
    pretrained = train(net, old.inputs[old.train], old.targets[old.train], steps)

    plain = train(pretrained, x, y, steps)
    report = reuse_report(pretrained, plain, test[0], layers=["1"], name="the finetuned model")
    print(report)

    found = search_rescaling(
        pretrained, lambda n, x, y: train(n, x, y, steps), error, x, y, factors=(1, 0.25), repeats=1
    )
    tuned = train(rescale(pretrained, found.best), x, y, steps)
    print(f"\nbest factor on a validation split: {found.best:g}")
    print(
        f"error on new rows: {error(plain, *test):.3f} as it was, {error(tuned, *test):.3f} after rescaling"
    )


if __name__ == "__main__":
    main()
