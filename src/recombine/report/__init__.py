"""Documents, tables and figures. This layer takes arrays and words, and does not know where they come from.

Importing it is cheap: matplotlib, Jinja2 and Rich are imported when something is drawn, rendered or printed.
"""

from recombine.report.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Column,
    Details,
    Document,
    Fact,
    Facts,
    Only,
    Picture,
    Row,
    Section,
    Table,
)
from recombine.report.figures.canvas import (
    PAGE_WIDTH,
    blank_figure,
    image_figure,
    map_figure,
    new_figure,
    png_bytes,
    svg_bytes,
)
from recombine.report.figures.cell_maps import cell_maps
from recombine.report.figures.curves import layer_curves, loss_curves, tuning_curves
from recombine.report.figures.factor_maps import error_map, error_map_row, map_row, share_map, shared_limits
from recombine.report.figures.image_grids import image_grid
from recombine.report.figures.matrices import heat_table, similarity_matrix
from recombine.report.figures.scaling_plots import fitted_slope, scaling_plot
from recombine.report.figures.seed_points import seed_points
from recombine.report.figures.status_grids import status_grid, status_grids
from recombine.report.figures.style import BASELINE, METHODS, SEEN, UNSEEN, colours, headline, look, sentence
from recombine.report.figures.unseen_outline import mask_outline, outline_unseen
from recombine.report.html import html, write_html
from recombine.report.interface import Report
from recombine.report.machine import machine, page_footer
from recombine.report.markdown import markdown, write_markdown
from recombine.report.numbers import (
    bracket,
    count,
    fixed,
    interval_end,
    number,
    number_ranges,
    percent,
    plus_minus,
    points,
    scientific,
)
from recombine.report.plain_values import plain_interval, plain_level, plain_number
from recombine.report.progress import ProgressDisplay, ProgressLine, duration, progress
from recombine.report.terminal import document_text, print_document, print_table, table_text, terminal_width

__all__ = [
    "BASELINE",
    "METHODS",
    "PAGE_WIDTH",
    "SEEN",
    "UNSEEN",
    "Badge",
    "Block",
    "Bullets",
    "Code",
    "Column",
    "Details",
    "Document",
    "Fact",
    "Facts",
    "Only",
    "Picture",
    "ProgressDisplay",
    "ProgressLine",
    "Report",
    "Row",
    "Section",
    "Table",
    "blank_figure",
    "bracket",
    "cell_maps",
    "colours",
    "count",
    "document_text",
    "duration",
    "error_map",
    "error_map_row",
    "fitted_slope",
    "fixed",
    "headline",
    "heat_table",
    "html",
    "image_figure",
    "image_grid",
    "interval_end",
    "layer_curves",
    "look",
    "loss_curves",
    "machine",
    "map_figure",
    "map_row",
    "markdown",
    "mask_outline",
    "new_figure",
    "number",
    "number_ranges",
    "outline_unseen",
    "page_footer",
    "percent",
    "plain_interval",
    "plain_level",
    "plain_number",
    "plus_minus",
    "png_bytes",
    "points",
    "print_document",
    "print_table",
    "progress",
    "scaling_plot",
    "scientific",
    "seed_points",
    "sentence",
    "share_map",
    "shared_limits",
    "similarity_matrix",
    "status_grid",
    "status_grids",
    "svg_bytes",
    "table_text",
    "terminal_width",
    "tuning_curves",
    "write_html",
    "write_markdown",
]
