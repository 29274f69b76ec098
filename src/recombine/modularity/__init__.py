"""Does a net fall into modules? A report from the weights of any net, and from activity, biases and data if known."""

from recombine.modularity.analysis import modularity_report
from recombine.modularity.nulls import Newman, Null
from recombine.modularity.pitfalls import Pitfall
from recombine.modularity.result import ModularityReport
from recombine.modularity.separability import Separability
from recombine.modularity.verdict import ModularityVerdict
from recombine.report.figures.weight_maps import weight_maps

__all__ = [
    "ModularityReport",
    "ModularityVerdict",
    "Newman",
    "Null",
    "Pitfall",
    "Separability",
    "modularity_report",
    "weight_maps",
]
