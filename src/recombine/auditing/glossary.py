"""The words of a page, for readers who have not seen the papers."""

from __future__ import annotations

from recombine.report import Column, Row, Table

WORDS = {
    "cell": (
        "One combination of levels, such as a red 3. Seen: training has it. Unseen: training has its levels, but not "
        "together."
    ),
    "constant": (
        "A predictor that gives the same answer for everything: the mean (or commonest) training target. Errors are "
        "held against its error."
    ),
    "wrong cell": (
        "Of labels: most of its rows have the wrong one. Of quantities: its error is above that of nearly all seen "
        "cells, and above a tenth of a constant's."
    ),
    "order": (
        "How many factors an effect depends on: order 1 is effects of single factors, order 2 of pairs. An additive "
        "predictor of some order sums such effects."
    ),
    "determined": "Training leaves only one answer for the cell, if the task is a sum of effects of the order above.",
    "expected to remain": (
        "A theory of kernels (Lippl & Stachenfeld 2025) says how much of an answer's size reaches unseen cells, as "
        "what is stored for whole combinations does not."
    ),
    "readout": "A linear prediction from the activity of a layer.",
    "factorisation": "Whether factors move a layer in independent directions: 1 independent, 0.5 along one line.",
    "volume": "How far a layer moves if every factor is changed by a level: the room that a cell takes up.",
    "salience": (
        "How much of what tells cells apart in a layer goes with single factors, and how much only with whole "
        "combinations."
    ),
    "modules": (
        "Groups of units that are connected mostly among themselves; how many there are is chosen from the weights."
    ),
}


def glossary() -> Table:
    """All words with their meanings.

    ```python
    >>> from recombine.auditing.glossary import glossary
    >>> len(glossary().rows) > 5
    True

    ```
    """
    return Table([Column("word"), Column("meaning")], [Row([word, said]) for word, said in WORDS.items()])
