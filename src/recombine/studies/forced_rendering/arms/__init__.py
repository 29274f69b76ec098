"""The experiments of the study, as named arms of trials, at three scales.

Scale `paper` uses the published settings (from the authors' scripts where the paper is silent). Scale `quick` keeps the
image size, bump width, holes and losses, and shrinks the nets and the number of steps; only the transformers draw
smaller images there. Scale `smoke` only checks that everything runs.
"""

from __future__ import annotations

from recombine.studies.claims import Scale
from recombine.studies.forced_rendering.arms import failure, further, rendering, statements, stripes
from recombine.studies.forced_rendering.arms.builder import Builder
from recombine.studies.study import Arms

GROUPS = (
    statements.arms,
    failure.decoders,
    failure.depths,
    failure.sampling,
    failure.perceptrons,
    rendering.render_nets,
    rendering.heads,
    rendering.token_decoders,
    stripes.curricula,
    stripes.data_scaling,
    further.encoders,
    further.rotations,
    further.canvases,
    further.sizes,
)


ALIKE = (
    "ramp",
    "scalar",
    "render none, ",
    "superposition",
    "head 1",
    "code width",
    "200 epochs",
    "depth 4",
    "196 bumps",
    "252 bumps",
    "4 N",
    "everywhere",
    "rotation digits",
    "rotation circle",
    "20 epochs",
    "scaling ",
)
"""Words in the names of arms that differ from others only in code, data or a number; scale smoke leaves them out."""


def arms(scale: Scale) -> Arms:
    """All arms of the study at a scale, by name."""
    build = Builder(scale)
    built = {name: trials for group in GROUPS for name, trials in group(build).items()}
    if scale != "smoke":
        return built
    return {name: trials for name, trials in built.items() if not any(word in name for word in ALIKE)}


__all__ = ["arms"]
