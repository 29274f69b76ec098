"""Every threshold and limit of an audit, each with its reason.

Thresholds decide what a report says; limits bound the work. Shares are between 0 and 1. "With 95% confidence" means
that the bound holds at the unfavourable end of the 95% interval.
"""

from __future__ import annotations

# ---- does the model compose? ---------------------------------------------------------------------------------------

COMPOSES, COMPOSES_SQUARED = 0.9, 0.95
"""A model composes if its unseen error covers at least this share of the way from a constant's error to its seen
error. Squares hide errors: predictions that are a third too small cover 0.9 of the way, hence the second number for
them,"""
COMPOSES_SURELY = 0.75
"""and at least this share with 95% confidence, or if at least five unseen cells are all right. It does not compose if
the whole interval lies below the first share."""
MOSTLY_RIGHT = 0.1
"""Nor does it compose if, with 95% confidence, more than this share of unseen cells is wrong, beyond that of seen
cells,"""
TOO_CLOSE = 0.003
"""unless the end of the interval is this close to that share: then rounding or a single cell could decide otherwise,
and it is too close to call."""
TRIFLING = 0.01
"""Nor does it compose if a rule that ignores how factors combine surely explains most of the error, unless that error
is below this share of a constant's or like that on seen cells. (Predictions that keep nine tenths of their size have a
hundredth of a constant's squared error.)"""
LEARNED = 0.5
"""A model that removes less than this share of a constant's error on seen cells has learned the task only in part."""
LEARNED_NOTHING = 0.1
"""A model that removes no more than this has learned nothing, so there is nothing that could carry over."""
UNLEARNED = 0.05
"""A model that leaves this share of a constant's error on seen cells, beyond noise, has not learned them fully."""
NOT_FULLY_LEARNED, KNOWS_BETTER = 0.25, 0.5
"""A model that leaves the first share of a constant's error on seen cells may have learned a rule that ignores what the
task needs there, too. It is not noise that keeps it from knowing better if the best simple model has at most the second
share of its error on unseen cells."""
KNOWS_SEEN = 2.0
"""A model that looks up what it stored knows the seen cells: its error on unseen cells is at least this many times as
large."""
LIKE_SEEN = 1.5
"""Unseen cells are handled like seen ones unless their error is, with 95% confidence, more than this many times as
large."""
WIDE_RANGE = 20.0
"""Squared errors are mostly about large targets if the 95th percentile of positive ones is this many times the 5th."""
ROUNDING_ERROR = 1e-12
"""An error below this share of a constant's is rounding."""

# ---- which rule explains a failure? --------------------------------------------------------------------------------

EXPLAINS = 0.5
"""A rule explains a failure if it accounts for at least this share of it: more than everything else together,"""
EXPLAINS_SURELY = 0.2
"""for at least this share with 95% confidence,"""
MAX_P_VALUE = 0.02
"""and if the permutation test gives at most this p-value. It is below 0.05 because several rules are tested."""
UNINFORMATIVE_P_VALUE = 0.9
"""If this many permutations do as well as the data, more cells of the same kind would not help."""
ACCOUNTS_FOR_ALL = 0.9
"""For a classifier that has learned nothing, a rule must account for this share of the failure with 95% confidence."""
EXPLAINS_ALL_LABELS = 0.95
"""A function of one factor is fitted to the predictions it explains, so other rules take precedence unless it explains
this share of the labels."""
LIKELIHOOD_RATIO = 20.0
"""Two rules explain labels equally well if one makes them at most this many times as probable as the other."""
RESIDUAL_RATIO, RESIDUAL_SLACK = 1.25, 0.001
"""Two rules explain quantities equally well if one leaves at most 1.25 times as much unexplained, plus a thousandth."""
PARTIAL_SHARE = 0.25
"""If no rule explains the failure, the verdict mentions the best one from this share on."""
NO_SLOPE = 0.0005
"""Up to this slope of predictions on targets, they do not vary with the targets at all."""
NEGLIGIBLE_SHARE = 0.005
"""Shares up to this are reported as nothing, since they would be printed as 0%."""
MIN_UNSEEN_CELLS = 5
"""With fewer unseen cells no permutation test can reach a small p-value, and all may be right by luck."""
NO_ERROR = 1e-9
"""Errors below this share of a constant's need no explanation,"""
NOISE_FACTOR = 1.5
"""nor do errors below this multiple of what the variation of rows within cells accounts for."""

# ---- single rules --------------------------------------------------------------------------------------------------

ADDITIVE_TASK = 0.05
"""A task is a sum of effects if the sums leave less than this share of the variance of the unseen targets."""
TARGET_NOISE_FACTOR = 1.25
"""The part of that variance which is noise in the targets is known only to about a quarter."""
ADDITIVE_PREDICTIONS = 0.99
"""Predictions are sums of effects of single factors if these explain this share of their variance."""
IGNORES = 0.5
"""A shortcut ignores factors that the task needs: the levels of its factors leave at most this share of what they leave
of the targets (relative to the variance of each)."""
STORED_VALUE, STORED_CELLS, MIN_STORED_VALUES = 1e-6, 0.9, 8
"""Predictions are stored values if they agree with that of some seen cell up to this share of their standard deviation
in at least this share of unseen cells, and if seen cells have at least so many different ones (not, for example, whole
numbers, with which targets agree as well)."""
NEARLY_CONSTANT = 0.1
"""Predictions hardly vary if their distance to a constant is at most this share of the targets' distance to it."""
NOT_SHRUNKEN = 0.9
"""Predictions with a slope on the targets of at least this, relative to seen cells, are not shrunken,"""
REVERSED_SLOPE = -0.1
"""and those with a slope below this are reversed, which is not a leak either."""
OTHER_SCALE = 30.0
"""Outputs of a long vector are not pixels if the standard deviation of one is this many times the median one."""
MIN_IMAGE_OUTPUTS = 16
"""With fewer outputs than this, a sum of images cannot be distinguished from other vectors."""
MOSTLY_WRONG_LABELS = 0.8
"""If more than this share of labels is wrong, moving the wrong labels to other cells leaves no choice."""

# ---- units of the predictions --------------------------------------------------------------------------------------

SAME_UP_TO_UNITS = 0.95
"""Predictions are in other units if a line on the targets explains this share of them on training rows,"""
MISCALIBRATED = 0.05
"""and if without that line their error is above this share of a constant's,"""
CAUTIOUS_OFFSET = 0.1
"""unless they are the targets shrunken towards their mean, as those of a model that has learned little are: a slope
below 1, and a mean that is off by at most a tenth of the standard deviation."""
MOST_NOISE = 0.75
"""Noise in the targets is a possible reason for errors up to this share of a constant's: 37% wrong labels of two."""
KNOWN_DISAGREEMENT = 0.2
"""Rows of a cell that disagree are not noise if a model tells this share of their disagreement for rows it was not
trained on."""
MIN_REPLICATES = 5
"""Noise is estimated from at least this many rows beyond the first of their cell."""

# ---- the forecast from the split -----------------------------------------------------------------------------------

RETENTION_AT_RISK = 0.6
"""A cell is at risk if its prediction is forecast to shrink below this share of its size."""
ADDITIVE_TARGETS = 0.99
"""Seen targets are additive if sums of effects explain this share of their variance (or labels)."""
WRONG_CELL = 0.1
"""A cell is wrong if its error is above this share of a constant's and above the errors of almost all seen cells,"""
SEEN_QUANTILE = 0.95
"""that is, above this quantile of them,"""
HOPELESS_CELL = 0.5
"""or above this share of a constant's, even if seen cells are no better."""
WRONG_LABELS = 0.5
"""With labels, a cell is wrong if more than this share of its rows is."""

# ---- what remedies are worth ---------------------------------------------------------------------------------------

MIN_LIKENESS = 0.5
"""A simple model stands for the user's if it reproduces at least this share of its errors,"""
RANDOM_ADDITIONS = 5
"""and random cells are drawn this many times, to be compared with the cells that a remedy adds."""
MAX_ADDED_CELLS, ADDED_SHARE = 8, 0.1
"""A remedy that may add any cells adds at most so many, and about this share of the unseen ones."""
NOTHING_KNOWN = 0.9
"""Seen cells say nothing about others if even the best simple model has this share of a constant's error on seen cells
that were left out of its fit."""

# ---- what separates right from wrong cells -------------------------------------------------------------------------

MIN_CONDITION_CELLS = 3
"""A condition is true of at least this many unseen cells, and not true of as many."""
MAX_P_VALUE_OF_CONDITION = 0.05
"""Conditions are reported up to this p-value, corrected for the number of conditions,"""
MAX_SHOWN_CONDITIONS = 6
"""at most so many,"""
SAME_CONDITION = 0.9
"""and not those that are true of (or of all but) nearly the same cells as a stronger one."""
STRONG_CONDITION = 0.3
"""The verdict mentions a condition if the shares of wrong cells differ by this with 95% confidence."""
ARRANGEMENTS, MAX_NAMED_LEVELS = 9_999, 5
"""Random arrangements of wrong cells with which a set of levels is compared; levels of a set that its text names."""
MAX_CONDITION_LEVELS = 200
"""Levels of a factor, or values of a column, up to which each is a condition."""

# ---- layers, weights and derivatives -------------------------------------------------------------------------------

READABLE = 0.8
"""A factor can be decoded from a layer if at least this share of it is predicted for held-out cells (R², or accuracy
above guessing)."""
FACTORISATION_FALL = 0.1
"""Factors are re-entangled if the factorisation score falls by at least this (it runs from 0.5 to 1),"""
FACTORISATION_FALL_SURELY = 0.03
"""and by at least this with 95% confidence,"""
FACTORISATION_SLACK = 0.05
"""unless it stays within this of what the targets, or random directions in as few dimensions, have."""
WARPED = 0.3
"""A layer is warped if unseen cells have at least twice (10^0.3), or at most half, the volume of seen cells,"""
WARPED_SURELY = 0.1
"""and 1.25 times (10^0.1) with 95% confidence, both relative to the input."""
RETENTION_SALIENT = 0.8
"""Saliences favour whole combinations if less than this share of a prediction is forecast to remain on unseen cells."""
INTERACTS = 0.05
"""Slots interact if more than this share of second derivatives crosses them; below, it is numerical error."""
SAME_LINE = 1e-6
"""An input column is a factor if a line on the factor leaves at most this share of its variance,"""
COLUMN_CHANGES = 4.0
"""and if no other column changes with the factor: ratio of variances between and within cells (an F test)."""
MIN_ORDERED_LEVELS = 3
"""Two levels say nothing about what lies between them."""
MIN_DECODED_CELLS = 12
"""With fewer cells, no decoding can be cross-validated."""

# ---- probabilities --------------------------------------------------------------------------------------------------

PROBABILITY_SLACK = 1e-3
"""Scores of a row are probabilities if their sum differs from 1 by at most this: they may be in half precision."""
CALIBRATION_BINS, MIN_BIN_ROWS = 10, 10
"""Bins of equally many rows, by confidence; fewer if a bin would have fewer rows than this."""
CALIBRATION_DRAWS = 100
"""Random labels from which the calibration error of a perfectly calibrated model is averaged."""

# ---- free text ------------------------------------------------------------------------------------------------------

PART_RIGHT = 0.95
"""A factor goes wrong in answers if less than this share of them names its level; the rest may be slips of wording."""

# ---- how outputs are read ------------------------------------------------------------------------------------------

MAX_CLASSES = {"i": 200, "u": 200, "b": 2, "f": 10}
"""Whole numbers with more different values than this, by kind of array, are quantities. Fewer are allowed for real
numbers."""
LOGIT_SHARE = 0.25
"""Scores of two classes are log-odds if more than this share lies outside -0.5 to 1.5."""
UNEVEN_LABELS = 1.5
"""Weighting rows can help if the commonest label of a level has this many times as many rows as the rarest."""

ORDINARY_TARGETS = (1e-70, 1e70)
"""Targets whose median size lies outside are divided by a power of ten: their fourth powers, which intervals of mean
squares need, would overflow or vanish."""
LOG_FLOOR = 1e-3
"""On a logarithmic scale, predictions below this share of an output's smallest target (zero, negative ones) count as
that."""

# ---- limits of the work --------------------------------------------------------------------------------------------

PERMUTATIONS = 999
"""The smallest p-value is then 0.001."""
CLOSE_P_VALUES, MAX_PERMUTATIONS, MAX_PERMUTED = (0.005, 0.06), 19_999, 400_000_000
"""If a p-value is this close to the threshold, there are more permutations, so that their luck does not decide: at most
so many, and as many cells in all permutations of all rules."""
RESAMPLES = 8000
"""Of cells, for intervals whose ends decide."""
MAX_TESTED_CELLS, MIN_TESTED_CELLS, MAX_CELL_PAIRS = 400, 100, 4_000_000
"""Unseen cells on which rules are tested; more are sampled, and fewer if there are very many seen cells to compare
with."""
MAX_BASELINE_CELLS, REFIT_FOLDS = 500, 5
"""Seen and unseen cells on which simple models are measured (more are sampled), and into how many parts the seen ones
are divided, each of which is left out once."""
MAX_FITTED_OUTPUTS, MAX_LOGIT_CLASSES = 4096, 20
"""Outputs up to which products and kernel machines, and classes up to which additive scores, are refitted."""
MAX_FUNCTION_OUTPUTS, FUNCTION_PERMUTATIONS = 64, 299
"""Outputs up to which a function of one factor is tested, and in how many of 999 permutations."""
MAX_NEIGHBOURS = 200
"""Nearest seen cells among which a copy is looked for."""
MAX_MIXED_IMAGES, MIXTURE_PARTNERS = 48, 12
"""Unseen images that are fitted by mixtures, and the errors of other cells with which each is permuted."""
MAX_EFFECTS = 1500
"""Seen conjunctions up to which sums of effects are fitted: their normal equations are dense."""
EFFECT_RIDGE = 1e-10
"""Share of the largest entry that makes normal equations regular; the fit is then the one with the smallest norm."""
MAX_LOGIT_CELLS, LOGIT_COST = 2000, 100.0
"""Seen cells from which sums of scores are fitted, and the cost of their misfit relative to the size of effects."""
CELL_PAIR_BLOCK = 2**24
"""Pairs of cells that are compared at a time."""
MAX_FORECAST_CELLS = 20_000
"""With more cells, the forecast is about single factors only, because pairs would take long."""
MAX_FORECAST_LEVELS = 3000
"""Levels of all factors together up to which there is a forecast: it inverts matrices with a row for every level."""
MAX_LAYERS = 12
"""Layers that are examined if the user names none; of more, these are spread evenly."""
MAX_DECODED_CELLS = 300
"""Cells from which factors are decoded; more are sampled."""
MAX_COMPARED_CELLS = 300
"""Cells whose similarities make up the saliences; more are sampled."""
MAX_RETENTION_TARGETS, MAX_RETENTION_CELLS = 300, 1500
"""Unseen and seen cells for which the kernel theory is solved; more are sampled."""
MAX_MODULE_UNITS = 2500
"""Units up to which modules are searched during an audit; `recombine modularity` takes more."""
MAX_FACTOR_COLUMNS = 64
"""Inputs with more columns than this are codes or images, not factors."""
MAX_DERIVATIVE_ROWS = 2000
"""Rows at which derivatives along factors are taken."""
DIFFERENCE_STEP = 5e-3
"""Half-width of finite differences, as a share of the column's standard deviation."""
MAX_KEPT_UNITS, MIN_KEPT_UNITS = 2048, 128
"""Units that are kept of a layer. Wider layers are sketched, which keeps inner products up to 1 / sqrt(units)."""
MAX_ACTIVITY_BYTES = 2**30
"""For the cell means of all layers together."""
MANY_CLASSES = 16
"""Labels of at least this many classes are counted by number, not summed as one-hot codes, which are mostly zeros."""
MAX_SAMPLED_ROWS = 400
"""Rows whose activity is kept as it is."""

# ---- what a page shows ---------------------------------------------------------------------------------------------

MAX_LISTED_CELLS = 12
"""Cells that a table of single cells lists."""
MAX_MAP_LEVELS = 60
"""Levels of a factor up to which a map of cells is legible."""
MAX_MAPS = 6
"""Pairs of factors with a map."""
MAX_POINTS = 300
"""Points of each kind in the figure of errors."""
MAX_IMAGES = 6
"""Cells shown as images."""
MIN_IMAGE_SIDE = 4
"""Outputs with a shorter side than this are not shown as images."""

# ---- gates, baselines and several models -----------------------------------------------------------------------------

MAX_GATE_CONDITIONS, MAX_CONDITION_LENGTH = 100, 10_000
"""Conditions of a gate, and characters of all of them."""
MAX_STORED_CELLS = 20_000
"""Cells whose errors are written to JSON, so that a later audit can be compared cell by cell; of more, none are."""
MAX_BASELINE_BYTES = 200 * 2**20
"""Size of a baseline file: twenty models with the largest number of cells take less."""
SAME_ERROR = 1e-6
"""Errors of a cell that differ by less than this share of a constant's are the same: other hardware rounds
differently."""
DIFFERS_P_VALUE = 0.05
"""Two models differ if the whole interval of the paired difference is on one side of 0, and if at most this share of
random signs gives a difference as large."""
MAX_MODELS, MAX_MODEL_NAME = 20, 100
"""Models that are compared at once, and characters of a model's name, which figures show."""
MAX_SHOWN_PAIRS = 10
"""Pairs of models up to which differences are not folded away."""
MAX_LISTED_CHANGES = 3
"""Pairs of models up to which the cells that changed are listed and drawn; of more, only their number is given."""
MAX_COMPARED_MAPS = 6
"""Models whose error maps a page shows."""

# ---- independent evidence --------------------------------------------------------------------------------------------

COPIED_CELLS = 0.5
"""Cells that differ only in a factor can be compared if at least this share of them has such a counterpart."""
SAME_IN_COPIES = 0.001
"""They count as copies of each other if at most this share of the variance of their targets, predictions and errors is
within such groups: a factor with a weak effect is not without one."""
