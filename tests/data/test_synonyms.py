"""Files of synonyms: the same pairs from every form; damaged files are refused in a line."""

import json

import pytest

from recombine import InputError
from recombine.data.synonyms import MAX_SYNONYM_BYTES, read_synonyms

PAIRS = {"crimson": "red", "dark red": "red", "sphere": "ball"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.json", json.dumps(PAIRS)),
        ("s.json", json.dumps({"red": ["crimson", "dark red"], "ball": ["sphere"]})),
        ("s.txt", json.dumps(PAIRS)),
        ("s.csv", "variant,canonical\ncrimson,red\ndark red,red\nsphere,ball\n"),
        ("s.csv", "crimson,red\r\ndark red , red\r\n\r\nsphere,ball"),
        ("s.csv", '\ufeffVariant,Canonical\n"crimson","red"\n"dark red",red\nsphere,ball\n'),
        ("s.tsv", "crimson\tred\ndark red\tred\nsphere\tball\n"),
        ("s.csv", "crimson;red\ndark red;red\nsphere;ball\n"),
    ],
)
def test_every_form_gives_the_same_pairs(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8", newline="")
    assert read_synonyms(file) == PAIRS


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("s.json", b"{", "JSON object"),
        ("s.json", b"[1, 2]", "JSON object"),
        ("s.json", b'{"a": 1}', "JSON object"),
        ("s.json", b'{"a": null}', "JSON object"),
        ("s.json", b'{"a": ["b", 3]}', "JSON object"),
        ("s.json", b'{"a": {"b": "c"}}', "JSON object"),
        ("s.json", b'"red"', "JSON object"),
        ("s.json", b"{}", "without synonyms"),
        ("s.json", b"[" * 100_000, "JSON object"),
        ("s.json", b'{"crimson": "red", "crimson": "pink"}', "one meaning"),
        ("s.csv", b"crimson,red\ncrimson,pink\n", "one meaning"),
        ("s.csv", b"", "without synonyms"),
        ("s.csv", b"variant,canonical\n", "without synonyms"),
        ("s.csv", b"crimson\n", "line 1"),
        ("s.csv", b"crimson,red\nsphere,ball,round\n", "line 2"),
        ("s.csv", b"crimson,\n", "line 1"),
        ("s.csv", b'crimson,"red\n', "two columns"),
        ("s.csv", b"cr\xe9me,white\n", "UTF-8"),
        ("s.csv", b"\x00\x01,\x02\n", "line 1"),
        ("s.csv", b"x" * (MAX_SYNONYM_BYTES + 1), "at most"),
    ],
)
def test_damaged_files_are_refused_in_a_line(tmp_path, name, data, words):
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(InputError, match=words) as refused:
        read_synonyms(file)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("path", ["missing.csv", "", None, 3])
def test_other_paths_are_refused(path):
    with pytest.raises(InputError, match="synonyms"):
        read_synonyms(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="synonyms"):
        read_synonyms(tmp_path)
