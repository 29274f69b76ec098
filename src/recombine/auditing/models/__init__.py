"""One view of any model: PyTorch, JAX and Equinox, scikit-learn, or any function of arrays."""

from recombine.auditing.models.failing import ModelError
from recombine.auditing.models.importing import import_model
from recombine.auditing.models.loading import load_weights, takes_weights
from recombine.auditing.models.model import Chunk, Framework, Model
from recombine.auditing.models.opening import as_model

__all__ = [
    "Chunk",
    "Framework",
    "Model",
    "ModelError",
    "as_model",
    "import_model",
    "load_weights",
    "takes_weights",
]
