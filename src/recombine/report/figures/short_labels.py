"""Names that users chose, short enough for a figure, and fonts for the scripts in which they are written."""

from __future__ import annotations

from functools import cache

AXIS_WIDTH, COLUMN_WIDTH = 40, 18
"""Character cells for the name of an axis, and of a layer or a column of images."""

_FALLBACKS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "IPAGothic",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Unifont",
)
"""Fonts that have what DejaVu Sans lacks, mostly Chinese, Japanese and Korean; the first come first."""


@cache
def font_families() -> tuple[str, ...]:
    """DejaVu Sans, which comes with matplotlib, then the installed fonts that have glyphs that it lacks."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in _FALLBACKS if name in installed))


def short_label(text: str, width: int = AXIS_WIDTH) -> str:
    """A name in one line of at most `width` character cells, with an ellipsis in its middle if it is too long.

    Names often differ at their ends, such as layers of a network, so both ends are kept.

    ```python
    >>> from recombine.report.figures.short_labels import short_label
    >>> short_label("encoder.block.11.mlp.fc1", 14), short_label("形状の長い名前", 9), short_label("red")
    ('encoder…lp.fc1', '形状…名前', 'red')

    ```
    """
    from rich.cells import cell_len

    text = " ".join(text.split())
    if cell_len(text) <= width:
        return text
    head, tail = "", ""
    for left, right in zip(text, reversed(text), strict=True):
        if cell_len(head + tail) + cell_len(left) >= width:
            break
        head += left
        if cell_len(head + tail) + cell_len(right) >= width:
            break
        tail = right + tail
    return f"{head}…{tail}"
