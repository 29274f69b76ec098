"""`implicit_bias_report`: how far a network is from where its training would end, and what explains its predictions."""

from recombine.bias.analysis import implicit_bias_report
from recombine.bias.distance import Distance
from recombine.bias.explanations import Explanation
from recombine.bias.result import BiasReport, UnseenContexts

__all__ = ["BiasReport", "Distance", "Explanation", "UnseenContexts", "implicit_bias_report"]
