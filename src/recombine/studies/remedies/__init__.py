"""Which published remedy fixes which published failure? One sweep over the worlds and remedies of the six papers."""

from recombine.studies.remedies import first_choice, forecast_section, matrix_section
from recombine.studies.remedies.sweep_arms import cost
from recombine.studies.study import Study

STUDY = Study(
    "remedies",
    "Which published remedy fixes which published failure?",
    "ours; worlds and remedies of the six papers",
    sections=(matrix_section.SECTION, forecast_section.SECTION, first_choice.SECTION),
    main_figure="matrix",
    learned=(),
    cost=cost,
    says="statement",
    teaches="What the matrix teaches",
    sources=(
        "Sources: every statement is ours, and so are the worlds' sizes. Nets of a world have the same number of steps "
        "and the same batch size with every remedy. The strength of each remedy was chosen by the error on held-out "
        "seen cells, with other seeds (`python -m recombine.studies.remedies tune`)."
    ),
)

__all__ = ["STUDY"]
