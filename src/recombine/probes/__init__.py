"""Probes that at least two studies record: metrics of a trained net on its task, as `(net, task) -> dict`.

A trial names them as parts: `Part(errors)`, `Part(output_images, cells=[(5, 5)])`. `decoders` measures the outputs and
`layers` every stage. Probes that only one study records are in that study.
"""

from recombine.probes.decoders import (
    errors,
    interior_cells,
    output_images,
    polarity_of,
    positions,
    superposition,
)
from recombine.probes.layers import canvases, geometry, readability

__all__ = [
    "canvases",
    "errors",
    "geometry",
    "interior_cells",
    "output_images",
    "polarity_of",
    "positions",
    "readability",
    "superposition",
]
