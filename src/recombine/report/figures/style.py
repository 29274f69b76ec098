"""One look for every figure: colours with fixed meanings, type sizes, titles that are sentences, tick labels."""

from __future__ import annotations

import functools
import math
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from recombine.report.figures.short_labels import font_families

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.figure import SubFigure as SubFigure
else:  # matplotlib is imported when something is drawn, not before
    Axes = Figure = SubFigure = Any

P = ParamSpec("P")
R = TypeVar("R")

SEEN = "#0072B2"
"""Cells that training shows: the blue of Okabe and Ito."""
UNSEEN = "#D55E00"
"""Cells that training holds out: their vermilion."""
BASELINE = "#6B6B6B"
"""What a trivial prediction scores."""
INK = "#1A1A1A"
"""Text, axes and the outline of unseen cells."""

METHODS = MappingProxyType(
    {
        "black": "#000000",
        "green": "#009E73",
        "purple": "#CC79A7",
        "orange": "#E69F00",
        "sky": "#56B4E9",
    }
)
"""Colours of methods by slot, in order; the other Okabe-Ito colours than those of seen and unseen."""

MEANINGS = MappingProxyType({"seen": SEEN, "unseen": UNSEEN, "baseline": BASELINE})
"""Labels that have the same colour in every figure."""

MAP_COLOURS = "viridis"
"""For values that have an order: perceptually uniform, and safe for colour-blind readers."""
SIGNED_COLOURS = "PuOr"
"""For values around zero."""

UNSEEN_DASHES = (0.0, (3.0, 1.8))
"""The one dashed line: nothing but unseen cells is ever drawn with it."""

SMALLEST_TYPE = 7.0
"""No text is smaller, in points, at the size at which figures are made (a page 7 inches wide)."""

TITLE_SIZE = 9.0
HEADLINE_SIZE = 10.0

LOOK: MappingProxyType[str, Any] = MappingProxyType(
    {
        "font.size": 8.0,
        "axes.titlesize": TITLE_SIZE,
        "axes.titlelocation": "left",
        "axes.titlepad": 6.0,
        "axes.labelsize": 8.0,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
        "legend.fontsize": 8.0,
        "legend.frameon": False,
        "figure.titlesize": HEADLINE_SIZE,
        "text.parse_math": False,  # labels are shown unchanged, and superscripts would be too small
        "text.hinting": "none",  # so that text is as wide at every resolution
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.minor.width": 0.4,
        "ytick.minor.width": 0.4,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "xtick.minor.size": 1.5,
        "ytick.minor.size": 1.5,
        "lines.linewidth": 1.5,
        "lines.solid_capstyle": "round",
        "image.interpolation": "none",
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        "svg.fonttype": "path",
        "svg.hashsalt": "recombine",  # the same figure gives the same file
    }
)
"""matplotlib's settings while we draw, next to the font."""


@contextmanager
def look() -> Iterator[None]:
    """A context in which matplotlib draws with our settings; the user's own are restored afterwards.

    The font comes with matplotlib, so that figures are the same everywhere; characters that it lacks come from others
    that are installed. If there are none, they are boxes, without a warning for each.

    ```python
    >>> import matplotlib
    >>> from recombine.report import look
    >>> with look():
    ...     matplotlib.rcParams["font.size"]
    8.0

    ```
    """
    import matplotlib

    settings: Any = {**LOOK, "font.family": list(font_families())}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a drawing function draw with [`recombine.report.look`][], wherever it is called from."""

    @functools.wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        with look():
            return function(*args, **kwargs)

    return drawn


def colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour for every label: fixed for those that have a meaning, method slots in order for the others.

    A label that begins with "seen" or "unseen" as a word has that meaning.

    ```python
    >>> from recombine.report import colours
    >>> colours(["seen", "unseen cells", "ordinary decoder"])
    {'seen': '#0072B2', 'unseen cells': '#D55E00', 'ordinary decoder': '#000000'}

    ```
    """
    chosen: dict[str, str] = {}
    slots = tuple(METHODS.values())
    used = 0
    for label in labels:
        meaning = label.split(" ")[0].rstrip(",:")
        if meaning in MEANINGS:
            chosen[label] = MEANINGS[meaning]
        else:
            chosen[label] = slots[used % len(slots)]
            used += 1
    return chosen


@styled
def sentence(ax: Axes, text: str, *, lift: float = 0.0, inset: float = 0.0) -> None:
    """Titles a panel with a sentence that says what to look for, flush left and wrapped to the panel's width.

    **Arguments:**

    - `lift`: extra space under the title in points, for labels above the panel.
    - `inset`: inches by which the panel is narrower than its share of the figure, because of wide labels next to it.
    """
    if not text:
        return
    ax.set_title(_wrap(text, panel_width(ax) - inset, TITLE_SIZE), loc="left", pad=6.0 + lift)


@styled
def headline(figure: Figure | SubFigure, text: str) -> None:
    """Titles a whole figure with a sentence, flush left and wrapped to the figure's width."""
    if not text:
        return
    width = figure.bbox.width / figure.dpi
    wrapped = _wrap(text, width - 0.1, HEADLINE_SIZE)
    figure.suptitle(wrapped, x=0.05 / width, horizontalalignment="left")


def power_label(value: float) -> str:
    """A tick of a logarithmic axis: plain from 0.01 to 9999, otherwise as `1e-3`.

    ```python
    >>> from recombine.report.figures.style import power_label
    >>> [power_label(value) for value in (0.0005, 0.01, 1.0, 200.0, 1e5)]
    ['5e-4', '0.01', '1', '200', '1e5']

    ```
    """
    if value == 0.0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


@styled
def log_ticks(axis: Any) -> None:
    """Labels a logarithmic matplotlib axis: powers of ten, and 2 and 5 where there are few powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    few = low > 0 and math.log10(high / low) < 2.0
    subs: Sequence[float] = (1.0, 2.0, 5.0) if few else (1.0,)
    axis.set_major_locator(LogLocator(base=10.0, subs=subs, numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_label(value)))
    axis.set_minor_formatter(NullFormatter())


def text_width(text: str, points: float) -> float:
    """About how wide a line of text is, in inches: an average letter is 0.56 em wide."""
    return len(text) * 0.56 * points / 72.0


def panel_width(ax: Axes) -> float:
    """About how wide a panel will be, in inches; the layout itself is only known when it is drawn."""
    figure = ax.figure
    inches = figure.bbox.width / figure.dpi
    spec = ax.get_subplotspec()
    if spec is None:
        return inches * float(ax.get_position().width)
    return inches * len(spec.colspan) / spec.get_gridspec().ncols - 0.35


def _wrap(text: str, inches: float, points: float) -> str:
    return "\n".join(textwrap.wrap(text, max(int(inches / text_width("n", points)), 16)))
