"""Arrays in `.npz`, `.npy` and `.safetensors` files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.files import existing_file, is_path
from recombine.data.npz import is_archive, npz_names, read_npy, read_npz
from recombine.data.safetensors import read_safetensors
from recombine.errors import InputError

_PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib"}


def read_arrays(field: str, path: str | Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` or `.safetensors` file by name; pickles are refused.

    **Arguments:**

    - `names`: those that are needed. Others of an `.npz` file are not read, and stand there as empty arrays.

    ```python
    >>> import numpy as np
    >>> from recombine.data import read_arrays
    >>> path = getfixture("tmp_path") / "net.npz"
    >>> np.savez(path, W1=np.ones((3, 2)), b1=np.zeros(2))
    >>> {name: array.shape for name, array in read_arrays("weights", path).items()}
    {'W1': (3, 2), 'b1': (2,)}

    ```
    """
    _refuse_pickle(field, path)
    file = existing_file(field, path, "the path of an .npz or .safetensors file that exists")
    if file.suffix.lower() == ".safetensors":
        return read_safetensors(field, file)
    if names is None:
        return read_npz(field, file)
    unread = dict.fromkeys(npz_names(field, file), np.empty(0))
    return unread | read_npz(field, file, names)


def read_array(field: str, path: str | Path) -> np.ndarray:
    """The array of a `.npy` file (mapped into memory), or of an `.npz` file that has one array.

    ```python
    >>> import numpy as np
    >>> from recombine.data import read_array
    >>> path = getfixture("tmp_path") / "activity.npy"
    >>> np.save(path, np.arange(3))
    >>> read_array("activations", path).tolist()
    [0, 1, 2]

    ```
    """
    _refuse_pickle(field, path)
    expected = "the path of a .npy file, or of an .npz file with one array (nothing is unpickled)"
    file = existing_file(field, path, expected)
    if not is_archive(file):
        return read_npy(field, file)
    names = npz_names(field, file)
    if len(names) != 1:
        listed = f" (it has {', '.join(names[:8])})" if names else ""
        raise InputError(field, str(file), f"an .npz file with one array{listed}")
    return read_npz(field, file)[names[0]]


def read_xy(path: str | Path) -> tuple[np.ndarray, np.ndarray | None]:
    """The arrays `x` and, if it is there, `y` of an `.npz` or `.safetensors` file.

    ```python
    >>> import numpy as np
    >>> from recombine.data import read_xy
    >>> path = getfixture("tmp_path") / "data.npz"
    >>> np.savez(path, x=np.ones((4, 2)))
    >>> x, y = read_xy(path)
    >>> x.shape, y
    ((4, 2), None)

    ```
    """
    arrays = read_arrays("data", path)
    if "x" not in arrays:
        raise InputError("data", f"arrays {list(arrays)[:8]}", "an array 'x', and 'y' for errors")
    return arrays["x"], arrays.get("y")


def _refuse_pickle(field: str, path: Any) -> None:
    if is_path(path) and Path(path).suffix.lower() in _PICKLES:
        raise InputError(
            field,
            str(path),
            "an .npz or .safetensors file (pickles are never read, since they can run any code: write the arrays "
            "with numpy.savez, or safetensors.torch.save_file for a state dict)",
        )
