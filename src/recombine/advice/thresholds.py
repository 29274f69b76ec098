"""All thresholds of the advice, each with its reason: what is worth reporting, and how much is computed.

Limits on memory are computed, not set: see `recombine.advice.memory_use`.
"""

from __future__ import annotations

# --- What counts as a problem, or as fine ---

FEW_ROWS = 3
"""L3: a training cell with fewer rows says little about noise. Checked if cells typically have `TYPICAL_ROWS`."""
TYPICAL_ROWS = 10
"""L3: below this typical number of rows per cell, the whole table is small, and single cells are not the problem."""
MIN_RETENTION = 0.6
"""Predictions forecast to shrink below this share of their true size are worth acting on; above, rescaling helps."""
ADDITIVE_TOLERANCE = 1e-6
"""Labels are additive if the best fit misses no cell by more than this share of their range (solver's precision)."""
MAX_CLASSES = 50
"""Text labels with more distinct values than this are identifiers or free text, not classes."""
MIN_MARGIN = 1e-3
"""A predicted label counts as correct from this margin on, where training cells have 1: below, rounding decides."""
MIN_EXPLAINED = 0.5
"""If a line on the true values explains less of the predictions' variance than this, they are hardly related."""
SLOPE_TOLERANCE = 0.05
"""A slope of predictions on true values within this distance of 1 is about right."""
MAX_UNEVENNESS = 0.1
"""Similarities that differ by more than this share of their range for the same overlap are structured only roughly."""

# --- How much is computed ---

MAX_TARGETS = 10_000_000
"""All unseen cells are examined up to this number (about 1 GB); beyond, only those that have rows."""
MAX_MACHINE_CELLS = 1500
"""Training cells up to which kernel machines are solved exactly (an eigendecomposition takes about a second)."""
MAX_CONJUNCTIONS = 2e6
"""Cells times sets of factors up to which contradictory labels are searched for with one linear program."""
MAX_CELLS_FOR_ALL_DEPTHS = 500
"""Training cells up to which forecasts try all of `DEPTHS`; beyond, only `FEW_DEPTHS`."""
DEPTHS = tuple(range(1, 11))
"""Depths of random ReLU networks whose saliences are tried in addition to the chosen ones."""
FEW_DEPTHS = (1, 3, 10)
"""The same for large tables."""
LARGE_FIT = 2_000_000
"""Training cells times sets of factors from which additive fits are computed from counts, not from the design."""
MAX_SALIENCE_RATIO = 64.0
"""Ratios of saliences are tried between this and its inverse: wider than any network of 1 to 10 layers has."""

MAX_SEARCH_CELLS = 400
"""Labelled cells, seen and unseen, up to which corrective cells are searched for."""
MAX_MACHINES = 400
"""Kernel machines that this search may solve."""
MAX_SEARCH_WORK = 1e7
"""Machines times squared training cells that it may take; a machine of 150 cells takes about 3 ms."""
MAX_SETS = 10_000
"""Sets of one size that it enumerates."""
MAX_EXHAUSTIVE_SIZE = 4
"""Largest sets of which all are tried (and whose symmetric copies are recognised)."""
MAX_GREEDY_SIZE = 8
"""Most cells that it adds one by one; more would be a different data set rather than a correction."""

MAX_LAYER_CELLS = 600
"""Cells whose activity is compared; of larger tables, those of some levels drawn at random."""
MAX_LAYER_ROWS = 20
"""Rows of each of these cells that are used."""
MIN_REPEATED_CELLS = 3
"""Cells with a second row that are needed to compare cells with themselves without counting noise as similarity."""

# --- How much is shown ---

SECONDS_BEFORE_PROGRESS = 2.0
"""Nobody waits for less than this, so progress is shown only then, or at once for large tables."""
LARGE_TABLE = 20_000
"""Training cells and cells of interest from which the advice takes seconds."""
LARGE_MACHINE = 300
"""Training cells from which the forecasts for labels take seconds."""

MAX_EXAMPLES = 20
"""Unseen conjunctions and row numbers that are listed in JSON."""
MAX_NAMED_CELLS = 6
"""Cells that a sentence names; the others are in the files."""
MAX_LISTED_CELLS = 50
"""Cells that a table of the page lists."""
