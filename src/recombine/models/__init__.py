"""One adapter for any model: PyTorch, JAX and Equinox, scikit-learn, or any function of arrays.

| function | what it is for |
|---|---|
| `as_model` | a model with its inputs: outputs, activities of layers, slopes along inputs, weights, eval mode |
| `as_function` | a model as a function of rows, with mixed derivatives of any order |
| `import_model`, `load_weights` | a model by its import name, and its weights from a file |
| `source_files` | the files that importing a model would run |

Importing this package imports neither JAX nor PyTorch.
"""

from recombine.models.dispatch import as_function, as_model, framework_of
from recombine.models.function import ModelFunction
from recombine.models.importing import import_model, source_files
from recombine.models.model import Chunk, Framework, Model
from recombine.models.model_errors import ModelError
from recombine.models.weight_files import load_weights, takes_weights

__all__ = [
    "Chunk",
    "Framework",
    "Model",
    "ModelError",
    "ModelFunction",
    "as_function",
    "as_model",
    "framework_of",
    "import_model",
    "load_weights",
    "source_files",
    "takes_weights",
]
