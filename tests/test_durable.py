import os
import subprocess
import sys

import pytest

from recombine import durable
from recombine.durable import sweep_temporaries, write_durably


def test_it_replaces_whole_files_and_leaves_nothing_else(tmp_path):
    write_durably(tmp_path / "a", b"one")
    write_durably(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_any_failure_leaves_the_old_content_alone(tmp_path, monkeypatch, step, error):
    write_durably(tmp_path / "a", b"one")

    def fail(*args):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_durably(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_left_overs_of_dead_writers_are_swept_and_those_of_the_living_are_not(tmp_path):
    code = f"""
import os
from pathlib import Path
from recombine import durable
os.fsync = lambda descriptor: os._exit(0)  # dies in the middle of writing
durable.write_durably(Path({str(tmp_path)!r}) / "a", b"data")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    (dead,) = os.listdir(tmp_path)
    alive = tmp_path / durable.temporary_name("a")
    elsewhere = tmp_path / f".a.{'0' * 12}.1.{'0' * 8}.tmp"
    alive.touch()
    elsewhere.touch()
    sweep_temporaries(tmp_path)
    assert set(os.listdir(tmp_path)) == {alive.name, elsewhere.name}
    os.utime(elsewhere, (0, 0))
    sweep_temporaries(tmp_path)
    assert os.listdir(tmp_path) == [alive.name]
    assert dead not in os.listdir(tmp_path)
