"""The demo: an ordinary decoder fails on unseen combinations, and two published remedies mend it."""

from recombine.studies.demonstration.page import demo_page
from recombine.studies.demonstration.run import demonstrate
from recombine.studies.demonstration.world import METHODS, demo_study

__all__ = ["METHODS", "demo_page", "demo_study", "demonstrate"]
