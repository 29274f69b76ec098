"""What does finetuning keep? A report on two versions of a model, or on their activations."""

from recombine.reuse.analysis import reuse_report
from recombine.reuse.layers import Label, LayerReuse
from recombine.reuse.result import ReuseReport

__all__ = ["Label", "LayerReuse", "ReuseReport", "reuse_report"]
