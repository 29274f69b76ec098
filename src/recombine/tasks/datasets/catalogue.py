"""The data sets known to the package, and the hashes by which their files are recognised.

The hashes are of the files as published: MNIST in the IDX format, not compressed, and the binary version of
CIFAR-10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Dataset:
    """One data set of the catalogue.

    **Arguments:**

    - `name`: its name in this package.
    - `purpose`: what it is used for.
    - `files`: the SHA-256 of every file, by file name.
    - `folders`: where those files usually are inside a folder of data sets.
    """

    name: str
    purpose: str
    files: Mapping[str, str]
    folders: tuple[str, ...]


CATALOGUE: Mapping[str, Dataset] = MappingProxyType(
    {
        "mnist": Dataset(
            name="mnist",
            purpose="handwritten digits, 28 × 28 grey: the rotated glyphs of the forced-rendering study",
            files={
                "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            },
            folders=("", "mnist", "MNIST/raw"),
        ),
        "cifar10": Dataset(
            name="cifar10",
            purpose="photographs of ten kinds of things, 32 × 32 in colour: scenes made of natural parts",
            files={
                "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
                "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
            },
            folders=("", "cifar10", "cifar-10-batches-bin"),
        ),
    }
)
"""The data sets known to the package, by name."""
