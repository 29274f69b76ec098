"""A report on the modularity of any net: weights from anywhere, and activity, biases and data where there are any."""

from recombine.modularity.behaviour import Behaviour
from recombine.modularity.measure import modularity_report
from recombine.modularity.nulls import Newman, Null
from recombine.modularity.pictures import weight_maps
from recombine.modularity.pitfalls import Pitfall
from recombine.modularity.result import ModularityReport
from recombine.modularity.verdict import Verdict

__all__ = [
    "Behaviour",
    "ModularityReport",
    "Newman",
    "Null",
    "Pitfall",
    "Verdict",
    "modularity_report",
    "weight_maps",
]
