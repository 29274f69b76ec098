"""Lippl, Abbott & Chung 2022: the implicit bias of gradient descent on generalized gated linear networks."""

from recombine.runs import Trial
from recombine.studies.gated_linear import conjunctions, networks, predictions, programmes, rectified_networks
from recombine.studies.study import Lesson, Study

SECONDS = {
    "one_layer": 25.0,
    "two_layers": 25.0,
    "longer_training": 30.0,
    "rectified": 8.0,
    "unseen_conjunctions": 15.0,
}
"""Of a trial's probe on one core, at scale quick."""


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    return max(SECONDS.get(probe.name.rpartition(":")[2], 3.0) for probe in trial.probes)


STUDY = Study(
    "gated-linear",
    "The implicit bias of gradient descent on generalized gated linear networks",
    "Lippl, Abbott & Chung, 2022, arXiv:2202.02649",
    sections=(
        programmes.SECTION,
        networks.SECTION,
        predictions.SECTION,
        rectified_networks.SECTION,
        conjunctions.SECTION,
    ),
    main_figure="fig2-gated",
    learned=(
        Lesson(
            "The published l2 baseline is not the l2 norm: it weights deviations between contexts too heavily and "
            "groups weight vectors of different units. The l2 norm of the weights of units does slightly better than "
            "the group norm, that of the effective weights slightly worse.",
            ("3", "20"),
        ),
        Lesson(
            "What predicts trained networks is the architecture more than the norm: the machine with the l2 norm of "
            "units agrees with them as often as that with the group norm.",
            ("9", "20"),
        ),
        Lesson(
            "Trained networks do answer unseen conjunctions of contexts by sums of parts. The sums are right where "
            "labels are made that way, but on digits no better than a linear machine.",
            ("26", "27", "24"),
        ),
        Lesson(
            "Where thresholds are at the median, the published comparison of predictions used networks whose "
            "thresholds had been lost and drawn again.",
            ("23",),
        ),
        Lesson(
            "Published nets are far from their limit in norm, although their predictions are close to it.",
            ("16",),
        ),
    ),
    cost=cost,
    sources=(
        "Sources: figures and abstract of the paper; authors' code and results: their repository; derived: follows "
        "from formulas and is checked by a second route; ours: not in the paper. Data: MNIST, digits 0 to 4 against 5 "
        "to 9, 500 training images unless stated, 12,000 others for testing; where MNIST is not on the machine, the "
        "small digits of scikit-learn."
    ),
)
