"""Tables, pictures and pages. This layer gets arrays and words, and knows nothing of where they come from.

Importing it is cheap: matplotlib, Jinja2 and Rich are imported when something is drawn, rendered or printed.
"""

from recombine.report.canvas import (
    PAGE_WIDTH,
    blank_figure,
    image_figure,
    map_figure,
    new_figure,
    png_bytes,
    svg_bytes,
)
from recombine.report.cell_maps import cell_maps
from recombine.report.content import Code, Column, Details, Page, Picture, Row, Section, Table, Toned
from recombine.report.curves import layer_curves, loss_curves, tuning_curves
from recombine.report.images import image_grid
from recombine.report.interval import Interval, interval
from recombine.report.machine import machine
from recombine.report.maps import error_map, error_map_row, map_row, share_map, shared_limits
from recombine.report.markdown import markdown, write_markdown
from recombine.report.matrices import heat_table, similarity_matrix
from recombine.report.numerals import bracket, count, fixed, number, percent, plus_minus, scientific
from recombine.report.outline import mask_outline, outline_unseen
from recombine.report.page import html, write_html
from recombine.report.progress import ProgressDisplay, ProgressLine, duration, progress
from recombine.report.scaling import fitted_slope, scaling_plot
from recombine.report.seeds import seed_points
from recombine.report.statuses import status_grid, status_grids
from recombine.report.style import BASELINE, METHODS, SEEN, UNSEEN, colours, headline, look, sentence
from recombine.report.terminal import print_table, table_text

__all__ = [
    "BASELINE",
    "METHODS",
    "PAGE_WIDTH",
    "SEEN",
    "UNSEEN",
    "Code",
    "Column",
    "Details",
    "Interval",
    "Page",
    "Picture",
    "ProgressDisplay",
    "ProgressLine",
    "Row",
    "Section",
    "Table",
    "Toned",
    "blank_figure",
    "bracket",
    "cell_maps",
    "colours",
    "count",
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
    "interval",
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
    "outline_unseen",
    "percent",
    "plus_minus",
    "png_bytes",
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
    "tuning_curves",
    "write_html",
    "write_markdown",
]
