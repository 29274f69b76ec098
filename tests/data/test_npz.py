"""Files of arrays: one reader, which checks sizes before it unpacks anything and never unpickles."""

import io
import zipfile

import numpy as np
import pytest

from recombine.data import archives, npz
from recombine.data.array_files import read_array, read_arrays
from recombine.errors import InputError


def test_a_small_file_that_unpacks_to_a_lot_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(10**6))
    monkeypatch.setattr(archives, "MAX_RATIO", 1)
    monkeypatch.setattr(archives.check_unpacked_size, "__kwdefaults__", {"limit": 10**6})
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(
        InputError, match=r"bomb.npz that unpacks to 8,000,128 bytes', expected at most 1,000,000"
    ):
        read_arrays("data", tmp_path / "bomb.npz")


def test_a_header_that_claims_more_than_there_is(tmp_path):
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**45,)}
    np.lib.format.write_array_header_1_0(buffer, header)
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive:
        archive.writestr("x.npy", buffer.getvalue())
    with pytest.raises(InputError, match=r"'x' in claims\.npz"):
        read_arrays("data", tmp_path / "claims.npz")


def test_members_that_are_not_arrays(tmp_path):
    path = tmp_path / "mixed.npz"
    np.savez(path, x=np.arange(3), o=np.array([None, {}], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "hello")
    assert npz.read_npz("data", path, names=["x"])["x"].tolist() == [0, 1, 2]
    for name in ("o", "readme.txt"):
        with pytest.raises(InputError, match=f"'{name}' in mixed.npz"):
            npz.read_npz("data", path, names=[name])
    with pytest.raises(InputError, match="nothing is unpickled"):
        read_arrays("data", path)


def test_one_array(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(4))
    np.savez(tmp_path / "a.npz", only=np.arange(4))
    for name in ("a.npy", "a.npz"):
        assert read_array("activations", tmp_path / name).tolist() == [0, 1, 2, 3]
    np.savez(tmp_path / "two.npz", x=np.arange(4), y=np.arange(4))
    with pytest.raises(InputError, match="one array \\(it has x, y\\)"):
        read_array("activations", tmp_path / "two.npz")
