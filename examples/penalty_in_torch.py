"""The weighted-activity penalty in a PyTorch loop of your own: two lines more, and the net comes apart into modules."""

import torch
from torch import nn

from recombine.metrics.connectivity import assign_known, in_block_mass, layer_weights
from recombine.models import as_model
from recombine.tasks import modular_task
from recombine.torch import Watch, weighted_activity


def main(steps: int = 1500) -> None:
    torch.manual_seed(0)
    task = modular_task(modules=3)
    x, y = torch.tensor(task.inputs[task.train]), torch.tensor(task.targets[task.train])
    net = nn.Sequential(nn.Linear(3, 24), nn.LeakyReLU(0.1), nn.Linear(24, 3))
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        with Watch(net) as watch:  # or, with a second forward pass: weighted_activity(net, x)
            loss = ((net(x) - y) ** 2).mean()
        optimiser.zero_grad()
        (loss + 1e-3 * weighted_activity(watch)).backward()
        optimiser.step()
    weights = layer_weights(list(as_model(net, x).weights().values()))  # inputs first
    mass = in_block_mass(weights, assign_known(weights, outputs=range(3)))["mass"]
    print(f"loss {loss.item():.1e}, weight inside modules by layer {mass.round(3).tolist()}")


if __name__ == "__main__":
    main()
