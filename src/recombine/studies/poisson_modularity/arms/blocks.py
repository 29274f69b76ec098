"""A modular block in front of a dense block: which of them computes the non-linear functions?"""

from __future__ import annotations

from recombine.nets import modules_then_dense
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import module_probes
from recombine.studies.poisson_modularity.arms.shared import LEAKY, SEEDS
from recombine.tasks import modular_task
from recombine.training import Recipe, adam

DRAW = 4
"""The published seed of this task."""
DEPTHS = (1, 2, 3, 4, 5)
EPOCHS = 2000


def block_arm(depth: int) -> str:
    """Modules of that many hidden layers."""
    return f"modules of {depth} layers"


def block_arms(scale: Scale) -> dict[str, Trial]:
    """Modules of one to five hidden layers of 16 units, then three dense layers of 64."""
    arms = {}
    for depth in DEPTHS:
        net = Part(
            modules_then_dense,
            modules=4,
            module_width=16,
            module_depth=depth,
            width=64,
            depth=3,
            outputs=4,
            activation=LEAKY,
        )
        how = Recipe(
            epochs=1 if scale == "smoke" else EPOCHS,
            batch=50,
            sampling="ordered",
            optimiser=adam(1e-4, weight_decay=1e-5),
        )
        probes = (Part(module_probes.affine_readout, stage="scalars"),)
        arms[block_arm(depth)] = Trial(Part(modular_task, draw=DRAW), probes, SEEDS[scale], net, how)
    return {name: arms[name] for name in (block_arm(1),)} if scale == "smoke" else arms
