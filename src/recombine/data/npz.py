"""NumPy's files: `.npz` archives and single `.npy` arrays. Sizes are checked first, and nothing is unpickled."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from math import prod
from pathlib import Path

import numpy as np

from recombine.data.archives import check_unpacked_size
from recombine.errors import InputError

_NPZ = "an .npz file of arrays that can be read (nothing is unpickled)"
_NPY = "a .npy file of numbers or fixed-width text that can be read (nothing is unpickled)"


def read_npz(field: str, path: Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file by name.

    **Arguments:**

    - `names`: read only these members; the others are not looked at. By default, all are read.

    **Raises:**

    `recombine.InputError` for a damaged file, a member that is not an array or that would have to be unpickled, and
    an archive that unpacks to too many bytes (`recombine.data.limits.MAX_UNPACKED`).

    ```python
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from recombine.data.npz import read_npz
    >>> path = pathlib.Path(tempfile.mkdtemp(), "data.npz")
    >>> np.savez(path, x=np.arange(3), label=np.array([None, "a"], dtype=object))
    >>> read_npz("data", path, names=["x"])
    {'x': array([0, 1, 2])}
    >>> read_npz("data", path)
    Traceback (most recent call last):
    recombine.errors.InputError: data: got "'label' in data.npz", expected an array of numbers or fixed-width text \
(nothing is unpickled)

    ```
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked_size(field, archive)
            members = {_array_name(member.filename): member for member in archive.infolist()}
            return {
                name: _read_member(field, path, name, archive, member)
                for name, member in members.items()
                if names is None or name in names
            }
    except InputError:
        raise
    except Exception:  # a damaged file can fail anywhere in zlib or in zipfile
        raise InputError(field, str(path), _NPZ) from None


def npz_names(field: str, path: Path) -> list[str]:
    """The names of the arrays in an `.npz` file; none of them is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [_array_name(member.filename) for member in archive.infolist()]
    except Exception:  # a damaged archive makes zipfile raise errors of many kinds
        raise InputError(field, str(path), _NPZ) from None


def read_npy(field: str, path: Path) -> np.ndarray:
    """The array of a `.npy` file, mapped into memory: only the parts that are used get loaded."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # a damaged file can fail anywhere in NumPy
        raise InputError(field, str(path), _NPY) from None


def is_archive(path: Path) -> bool:
    """Whether a file begins like a zip archive, whatever its name ends in."""
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _array_name(member: str) -> str:
    return member.removesuffix(".npy")


def _read_member(
    field: str, path: Path, name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> np.ndarray:
    # Reading to the end checks the member's CRC. The header is checked against the bytes that are really there,
    # because NumPy allocates whatever shape a header claims.
    data = archive.read(member)
    try:
        file = io.BytesIO(data)
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read_header(file)
        if dtype.hasobject or prod(shape) * dtype.itemsize != len(data) - file.tell():
            raise ValueError
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception:  # a damaged header is evaluated by NumPy, which raises errors of many kinds
        expected = "an array of numbers or fixed-width text (nothing is unpickled)"
        raise InputError(field, f"{name!r} in {path.name}", expected) from None
