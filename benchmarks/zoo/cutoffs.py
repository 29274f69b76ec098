"""Where the truth about a model is clear: every cut-off, with its reason.

Every test has two bounds. Above the upper one it says yes, below the lower one no; in between the draw is unclear and
is drawn again, so that no miss is a matter of definition. All errors are those of noise-free targets; every cell counts
once. C is the error of the best constant over all cells.
"""

from __future__ import annotations

COMPOSES, FAILS = 0.96, 0.8
"""`(C - unseen) / (C - seen)`: a model that goes at least 96% of the way to its seen error handles unseen cells like
seen ones for all purposes; one that loses a fifth of what it learned does not."""
SAME_RATIO, SAME_SLACK = 3.0, 0.01
"""A composer's unseen error is also at most three times its seen error plus 1% of C. A model that goes 97% of the way
and yet errs ten times as much as on seen cells is neither a success nor a failure."""
GROWS_RATIO = 4.0
"""From four times the seen error on (plus 1% of C, and with noise), nobody would say that unseen cells are handled like
seen ones."""
LEARNED, NOT_LEARNED = 0.12, 0.22
"""Seen error over C: up to 12% the seen cells are learned; from 22% on they are not, if the unseen error is similar."""
NOT_LEARNED_AT_ALL = 0.5
"""From half of C on nothing else matters: what was not learned cannot carry over."""
SIMILAR_RATIO = 1.5
"""Unseen over seen error up to which a model that underfits has no other failure."""

ONE_FACTOR, NOT_ONE_FACTOR = 0.9, 0.75
"""Shortcut: share of the unseen predictions that some of the factors alone determine (labels that agree with another
cell of the same level; variance that levels explain, each cell left out)."""
TASK_OF_MORE_FACTORS = 0.75
"""... where the same factors determine at most this share of the targets: otherwise using them alone is right."""
ADDS, DOES_NOT_ADD = 0.85, 0.7
"""Additive: share of the unseen predictions that the sum of effects fitted to the model's seen predictions explains.
(A network on one-hot codes that adds reaches 89 to 95%.)"""
ADDS_LABELS, DOES_NOT_ADD_LABELS = 0.92, 0.8
"""The same for labels, which sums of scores match more easily."""
NO_INTERACTION = 0.02
"""... or mixed second differences, over all cells, with less than this share of the variance: a sum everywhere,"""
TASK_NOT_ADDITIVE = 0.75
"""... where the same sum, fitted to the seen targets, explains at most this share of the unseen targets."""
COPIES, DOES_NOT_COPY = 0.6, 0.4
"""Memory, by intervention: numbers are added to the targets of seen cells at random, and the model is trained again.
Share of the change of unseen predictions that the numbers in the nearest seen cells explain, ..."""
COPIES_LABELS, DOES_NOT_COPY_LABELS = 0.6, 0.12
"""The same for labels, which are drawn at random for every seen cell: squared correlation of the predicted classes
with those of the nearest seen cells. (Up to 0.12, at most about a third of the labels are copies.)"""
COPIES_MORE = 0.75
"""... leaving at most this share of what the sum of effects of these numbers leaves."""
AVERAGES_STORED, STORED_CELLS = 0.95, 0.25
"""Memory, by construction: weights of stored rows that reproduce this share of the unseen predictions, where the
effective number of cells with weight is at most this share of the seen cells."""
SHRINKS, DOES_NOT_SHRINK = 0.8, 0.9
"""Slope of the unseen predictions on the targets, by a model that is right on seen cells: memory leaks if a fifth of
the size is lost, ..."""
ON_A_LINE = 0.75
"""... if the line explains this share of the predictions."""
SUPERPOSES, DOES_NOT_SUPERPOSE = 0.8, 0.65
"""Share of the unseen pictures that an overlay of seen pictures with a common level explains, ..."""
OWN_PICTURE, MORE_THAN_TARGET = 0.5, 0.15
"""... while they have at most this squared correlation with the right pictures, of which overlays explain less by at
least this share."""
NEARLY_CONSTANT = 0.05
"""Unseen predictions with less than this share of the targets' variance (or other labels than one) are constant: they
show no pattern."""
