"""The weighted-activity penalty on PyTorch tensors: the same arithmetic, in a loop of your own."""

import torch

from recombine.probes.connectivity import assign_known, in_block_mass, layer_weights
from recombine.remedies import weighted_activity_of
from recombine.tasks import modular_task


def main(steps: int = 1500) -> None:
    torch.manual_seed(0)
    task = modular_task(modules=3)
    x, y = torch.tensor(task.inputs[task.train]), torch.tensor(task.targets[task.train])
    first, second = torch.nn.Linear(3, 24), torch.nn.Linear(24, 3)
    optimiser = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
    for _ in range(steps):
        hidden = torch.nn.functional.leaky_relu(first(x), 0.1)
        loss = ((second(hidden) - y) ** 2).mean()
        optimiser.zero_grad()
        (loss + 1e-3 * weighted_activity_of(hidden, second.weight.T)).backward()
        optimiser.step()
    weights = layer_weights([first.weight.detach(), second.weight.detach()], rows="outputs")
    mass = in_block_mass(weights, assign_known(weights, outputs=range(3)))["mass"]
    print(f"loss {loss.item():.1e}, weight inside modules by layer {mass.round(3).tolist()}")


if __name__ == "__main__":
    main()
