"""Figures of interaction: shares by order with their intervals, and which latents interact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from recombine.metrics.interaction.shares import Share
from recombine.report import BASELINE, METHODS, heat_table, look, new_figure, number, sentence
from recombine.report.figures.style import Figure

MAX_NUMBERED = 12
"""Latents up to which every pair's number fits into its square."""


def shares_figure(shares: Sequence[Share], threshold: float, *, title: str) -> Figure:
    """The share of derivatives across slots, order by order: a point with its 95% interval.

    Orders without derivatives are left empty. Shares up to `threshold` count as none.

    ```python
    >>> from recombine.metrics.interaction import Share
    >>> from recombine.metrics.interaction.interaction_figures import shares_figure
    >>> share = Share("r2", 0.5, 0.4, 0.6, 0.05, 0.0, 1.0, 3.0, 1e-9)
    >>> figure = shares_figure([share], 0.05, title="Half of all second derivatives cross slots")
    >>> figure.axes[0].get_ylabel()
    'share across slots'

    ```
    """
    figure, panels = new_figure(width=4.5, aspect=0.6)
    ax = panels[0, 0]
    with look():
        for order, share in enumerate(shares, start=1):
            if np.isnan(share.value):
                ax.text(order, 0.5, "no derivatives", ha="center", color=BASELINE)
                continue
            if np.isfinite(share.low):
                ax.plot([order, order], [share.low, share.high], color=METHODS["green"], linewidth=2)
            ax.plot(order, share.value, "o", color=METHODS["black"], markersize=5)
        ax.axhline(threshold, color=BASELINE, linewidth=0.8)
        ax.text(
            len(shares) + 0.45, threshold, "counts as none below", ha="right", va="bottom", color=BASELINE
        )
        ax.set_xticks(
            range(1, len(shares) + 1), [f"{share.name}\norder {n}" for n, share in enumerate(shares, 1)]
        )
        ax.set_xlim(0.5, len(shares) + 0.5)
        ax.set_ylim(-0.03, 1.05)
        ax.set_ylabel("share across slots")
    sentence(ax, title)
    return figure


def latents_figure(
    matrix: Float[np.ndarray, "latents latents"], slots: Sequence[Sequence[int]], *, title: str
) -> Figure:
    """How strongly every two latents interact, as a share of the strongest pair; latents sorted by slot.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.interaction.interaction_figures import latents_figure
    >>> figure = latents_figure(np.eye(4), [[0, 2], [1, 3]], title="Latents interact with themselves only")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['0', '2', '1', '3']

    ```
    """
    order = [latent for slot in slots for latent in slot]
    values = matrix[np.ix_(order, order)]
    largest = float(values.max(initial=0.0))
    names = [str(latent) for latent in order]
    figure, panels = new_figure(width=4.5, aspect=0.9)
    ax = panels[0, 0]
    heat_table(
        ax,
        values / largest if largest > 0 else values,
        names,
        names,
        row_label="latent",
        column_label="latent",
        limits=(0.0, 1.0),
        text=number if len(order) <= MAX_NUMBERED else lambda value: "",
        title=title,
    )
    for edge in np.cumsum([len(slot) for slot in slots])[:-1]:
        for line in (ax.axhline, ax.axvline):
            line(edge - 0.5, color="white", linewidth=2)
    return figure
