"""Weight maps of all regimes, and spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.report.figures.weight_maps import weight_map
from recombine.studies.claims import Evidence
from recombine.studies.poisson_modularity.arms.linear import REGIMES as LINEAR
from recombine.studies.poisson_modularity.arms.linear import linear_arm
from recombine.studies.poisson_modularity.arms.shared import MODULES
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYERS = 4
SHOWN = (
    *("initial", "L2", "L1 1e-3", "L1 1e-4", "Act", "Noise0"),
    *("Noise1", "Noise2", "WA", "WA alpha 1", "WA tanh", "WA sigmoid"),
)
SPECTRA = ("L2", "WA", "Act", "Noise2", "Noise0", "initial")


def _maps(evidence: Evidence, arms: Sequence[str], blocks: int) -> Figure:
    """One line of maps per arm, first seed, in `blocks` blocks side by side."""
    per_block = -(-len(arms) // blocks)
    with look():
        figure = blank_figure(height=1.02 * per_block + 0.3, width=3.6 * blocks)
        for block, part in enumerate(figure.subfigures(1, blocks, squeeze=False)[0]):
            chosen = arms[block * per_block : (block + 1) * per_block]
            panels = part.subplots(len(chosen), LAYERS, squeeze=False)
            for line, name in zip(panels, chosen, strict=True):
                _line(line, evidence[name], name)
            for layer, ax in enumerate(panels[0]):
                ax.set_title(f"layer {layer + 1}", fontsize=8.0, loc="center")
    return figure


def _line(line: Any, arm: Any, name: str) -> None:
    for layer, ax in enumerate(line):
        matrix, before, after = (
            arm[key][0] for key in (f"weights{layer}", f"labels{layer}", f"labels{layer + 1}")
        )
        weight_map(ax, matrix, before, after, ticks=False)
        ax.set_xlabel(f"{100 * arm['in_block'][0, layer]:.0f}%", fontsize=7.0, labelpad=1.5)
    line[0].set_ylabel(name.replace(" ", "\n", 1))


def _regimes(evidence: Evidence) -> Figure:
    return _maps(evidence, SHOWN, 2)


def _linear(evidence: Evidence) -> Figure:
    arms = [*(linear_arm(name) for name in LINEAR), linear_arm("WA alpha 1", sparse=True)]
    return _maps(evidence, arms, 2)


def _spectra(evidence: Evidence) -> Figure:
    inks = colours(list(SPECTRA)) | {"initial": BASELINE}
    marks = dict(zip(SPECTRA, "osD^vP", strict=True))
    with look():
        figure = blank_figure(height=2.9)
        panels = figure.subplots(1, LAYERS, sharey=True)
        for layer, ax in enumerate(panels):
            for name in SPECTRA:
                every = evidence[name]["spectra"][:, layer]
                values = np.median(every[:, ~np.isnan(every).any(axis=0)], axis=0)
                indices = np.arange(1, len(values) + 1)
                ax.plot(
                    indices,
                    values,
                    marks[name] + "-",
                    color=inks[name],
                    markersize=3.5,
                    linewidth=0.8,
                    label=name,
                    alpha=0.9,
                )
            ax.axvline(MODULES + 0.5, color=BASELINE, linewidth=0.6)
            ax.set_xlabel("eigenvalue")
            ax.set_xticks(range(1, MODULES + 3))
            ax.set_xlim(0.7, MODULES + 2.3)
            sentence(ax, f"layer {layer + 1}")
        panels[0].set_ylabel("size (0 up to 4: four modules)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


DRAWINGS = (
    Drawing(
        "weight-maps",
        "Weighted activity and noise that grows with activity lead to blocks; so do L1 and activity decay.",
        "|w| of the four layers of nets on four sines, live units sorted by module (first seed, 50,000 steps in every "
        "regime; square-root scale, relative to the layer's largest). Frames: the modules. Below each map: share of "
        "squared weight inside modules.",
        SHOWN,
        _regimes,
        form="image",
    ),
    Drawing(
        "spectra",
        "Four small eigenvalues mean four modules.",
        "Laplacian eigenvalues of the similarity of units, layer by layer, collapsed over live units; medians over "
        "seeds. Eigenvalues 5 and 6 are 1 for any weights (and layer 4 has four units): only number 4 is informative.",
        SPECTRA,
        _spectra,
    ),
    Drawing(
        "linear-maps",
        "Linear nets stay dense with noise and L2; L1, L12 and L21 lead to blocks.",
        "As above, for linear nets that learn the identity, and for weighted activity with alpha 1 on inputs presented "
        "one at a time.",
        (*(linear_arm(name) for name in LINEAR), linear_arm("WA alpha 1", sparse=True)),
        _linear,
        form="image",
    ),
)
