"""Remedies for your own PyTorch training loop: everything that `recombine.remedies.torch` exports."""

from recombine.remedies.torch import *  # noqa: F403
from recombine.remedies.torch import __all__ as __all__
