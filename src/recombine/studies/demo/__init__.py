"""The demo: a standard decoder fails on unseen combinations, and two published remedies help."""

from recombine.studies.demo.methods import METHODS
from recombine.studies.demo.run import DemoResult, run_demo, task_statement

__all__ = ["METHODS", "DemoResult", "run_demo", "task_statement"]
