"""The names of the arms on held-out regions and of modules in front of a dense block."""

NETS = ("modular", "full", "bottleneck", "full, small")
TASKS = ("wedge", "composition")
DEPTHS = (1, 2, 3, 4, 5)
"""Hidden layers of the modules in front of a dense block."""


def region_arm(task: str, net: str) -> str:
    """One net on one of the two tasks."""
    return f"{task}, {net}"


def block_arm(depth: int) -> str:
    """Modules of that many hidden layers in front of a dense block."""
    return f"modules of {depth} layers"
