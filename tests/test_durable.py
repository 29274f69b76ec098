import os
import subprocess
import sys

import pytest

from recombine import durable
from recombine.durable import sweep_temporaries, write_durably, write_file
from recombine.errors import StoreError


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


def test_a_user_s_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "page.html", tmp_path / "page.html"
    target.write_text("old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_not_a_file_is_not_replaced(tmp_path):
    pipe, folder, broken = tmp_path / "pipe", tmp_path / "folder", tmp_path / "broken"
    os.mkfifo(pipe)
    folder.mkdir()
    broken.symlink_to(tmp_path / "nowhere" / "file")
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for path in (pipe, folder, broken, link):
        with pytest.raises(StoreError, match="cannot write"):
            write_file(path, b"data")
    assert pipe.is_fifo()
    assert folder.is_dir()
    assert link.is_symlink()
