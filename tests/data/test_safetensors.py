"""A file written by hand is read back, and every damage is one clear line."""

import json

import numpy as np
import pytest

from recombine import InputError, modularity_report
from recombine.data.array_files import read_arrays

TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1"}


def packed(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def write(path, arrays, kinds=None):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        kind = (kinds or {}).get(name, "F32")
        raw = array.tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        data += raw
    path.write_bytes(packed(header, data))
    return path


def test_round_trip_of_all_types(tmp_path):
    arrays = {kind: np.arange(6).reshape(2, 3).astype(f"<{code}") for kind, code in TYPES.items()}
    arrays |= {"BOOL": np.array([True, False]), "BF16": np.array([0x3F80, 0xC000], dtype="<u2")}
    arrays["F32"][0, 0] = np.nan
    path = write(tmp_path / "net.safetensors", arrays, {kind: kind for kind in arrays})
    result = read_arrays("weights", path)
    assert result.pop("BF16").tolist() == [1.0, -2.0]
    for name, array in result.items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype
        assert array.flags.writeable


def test_state_dicts_are_reported_on(blocks, tmp_path):
    weights = blocks(3)
    state = {}
    for number, matrix in enumerate(weights):
        state[f"{2 * number}.weight"] = np.ascontiguousarray(matrix.T, dtype=np.float32)
        state[f"{2 * number}.bias"] = np.zeros(matrix.shape[1], dtype=np.float32)
    path = write(tmp_path / "net.safetensors", dict(reversed(state.items())))
    report = modularity_report(path, inputs="own", activation="relu")
    assert (report.name, report.modules, report.orientation) == ("net.safetensors", 3, "outputs-first")
    with pytest.raises(InputError, match="orientation='outputs-first'"):
        modularity_report(str(path), orientation="inputs-first")


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
DAMAGED = {
    "empty": (b"", "its header does not fit"),
    "short": (b"\x01\x02", "its header does not fit"),
    "long header": ((2**62).to_bytes(8, "little") + b"{}", "its header does not fit"),
    "no JSON": (packed(b"{nonsense"), "not JSON"),
    "no text": (packed(b"\xff\xfe\x00"), "not JSON"),
    "deep": (packed(b"[" * 100_000), "not JSON"),
    "a list": (packed([1, 2]), "not an object"),
    "twice": (packed(b'{"a": 1, "a": 2}'), "a name twice"),
    "no entry": (packed({"a": 3}), "'a' is not an object"),
    "type": (packed({"a": ENTRY | {"dtype": "F8_E4M3"}}, b"12345678"), "'F8_E4M3'; known are F64"),
    "no type": (packed({"a": ENTRY | {"dtype": ["F32"]}}, b"12345678"), "has the type"),
    "shape": (packed({"a": ENTRY | {"shape": [-2]}}, b"12345678"), "has the shape [-2]"),
    "axis": (packed({"a": ENTRY | {"shape": [0, 10**30], "data_offsets": [0, 0]}}), "has the shape"),
    "true": (packed({"a": ENTRY | {"shape": [True, 2]}}, b"12345678"), "has the shape"),
    "offsets": (packed({"a": ENTRY | {"data_offsets": [0]}}, b"12345678"), "outside the file"),
    "cut": (packed({"a": ENTRY}, b"1234"), "outside the file"),
    "backwards": (packed({"a": ENTRY | {"data_offsets": [8, 0]}}, b"12345678"), "outside the file"),
    "size": (packed({"a": ENTRY | {"shape": [3]}}, b"12345678"), "8 bytes for the shape [3]"),
    "overlap": (packed({"a": ENTRY, "b": ENTRY}, b"12345678"), "a gap or an overlap before"),
    "gap": (packed({"a": ENTRY | {"data_offsets": [4, 12]}}, b"1" * 12), "a gap or an overlap before 'a'"),
    "spare": (packed({"a": ENTRY}, b"1" * 12), "after its last array"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_one_line(name, tmp_path):
    content, words = DAMAGED[name]
    (tmp_path / "bad.safetensors").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_arrays("weights", tmp_path / "bad.safetensors")
    message = str(caught.value)
    assert words in message
    assert message.startswith("weights: got '")
    assert "\n" not in message


def test_files_cut_anywhere_are_refused(tmp_path):
    whole = write(tmp_path / "net.safetensors", {"w": np.ones((2, 3), dtype="<f4")}).read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut.safetensors").write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_arrays("weights", tmp_path / "cut.safetensors")


@pytest.mark.parametrize("suffix", [".pt", ".PTH", ".pkl"])
def test_pickles_are_never_read(suffix, tmp_path):
    path = tmp_path / f"net{suffix}"
    path.write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match=r"pickles are never read.*numpy\.savez.*safetensors"):
        modularity_report(path)
