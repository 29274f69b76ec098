"""Published changes of data, net or recipe that restore composition."""

from recombine.remedies.curricula import add_single_factors
from recombine.remedies.penalties import entropy_of, flatness, spectrum_entropy, variance_of
from recombine.remedies.rendering import ForcedRendering, forced_rendering

__all__ = [
    "ForcedRendering",
    "add_single_factors",
    "entropy_of",
    "flatness",
    "forced_rendering",
    "spectrum_entropy",
    "variance_of",
]
