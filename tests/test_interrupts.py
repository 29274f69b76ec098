"""Ctrl-C, as a terminal sends it: to all processes of a command, at any moment."""

import os
import signal
import subprocess
import sys
import time

import pytest

from recombine.cli import interrupts

# A test run in the background of a script ignores Ctrl-C, and so would the processes that it starts.
PROLOGUE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

CODE = """
import os, threading
from recombine.cli import interrupts, main

watch = interrupts.Interrupts._watch

def announced(self, reading):
    threading.Timer(0.05, os.write, (1, b"guarded\\n")).start()  # the block has begun by then
    watch(self, reading)

interrupts.Interrupts._watch = announced
main()
"""


def start(code, *words):
    process = subprocess.Popen(
        [sys.executable, "-c", PROLOGUE + code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "guarded\n", process.stderr.read()
    return process


def press_ctrl_c(process):
    """The exit code and the lines on standard error."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, errors.split("\n")


def is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


# Seconds after the command has begun: while modules are imported, workers start, programs are compiled, nets trained.
@pytest.mark.parametrize(("seconds", "jobs"), [(0.0, 2), (0.4, 2), (1.1, 0), (2.0, 2), (4.0, 0), (6.0, 2)])
def test_ctrl_c_at_any_moment(tmp_path, seconds, jobs):
    words = ["demo", "--store", tmp_path / "store", "--out", tmp_path / "demo.html", "--jobs", jobs]
    process = start(CODE, *words)
    time.sleep(seconds)
    code, lines = press_ctrl_c(process)
    assert code == interrupts.EXIT_CODE, lines
    assert "Traceback" not in " ".join(lines)
    stopped = [line for line in lines if line.startswith("stopped; ")]
    assert len(stopped) == 1, lines
    assert stopped[0].endswith(("; the same command continues from there", interrupts.NOTHING_SAVED))
    deadline = time.monotonic() + 60
    while not is_gone(process.pid):  # workers end with their parent
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.05)


def test_nothing_is_raised_in_a_module_that_is_being_imported(tmp_path):
    """An exception there ends some extension modules with a crash."""
    module = "import os\ntry:\n    while True: pass\nexcept BaseException:\n    os._exit(99)\n"
    (tmp_path / "endless_import.py").write_text(module)
    body = f"sys.path.insert(0, {str(tmp_path)!r}); import endless_import"
    code, lines = press_ctrl_c(start(SWALLOWING.format(body=body)))
    assert code == interrupts.EXIT_CODE
    assert "stopped; 1 new result is kept in here" in lines


SWALLOWING = """
import sys, time
from recombine.cli.interrupts import Interrupts, on_interrupt

with Interrupts():
    on_interrupt(lambda: "1 new result is kept in here")
    print("guarded", flush=True)
    {body}
    print("went on")
"""


@pytest.mark.parametrize(
    "body",
    [
        # What destructors and some extension modules do with exceptions.
        "\n    while True:\n        try: time.sleep(600)\n        except KeyboardInterrupt: pass",
        # Swallowed shortly before the end: still an interruption.
        "\n    try:\n        time.sleep(600)\n    except KeyboardInterrupt:\n        pass",
        # Compiled code that does not return; it has let go of Python's lock.
        "import hashlib; hashlib.pbkdf2_hmac('sha256', b'x', b'y', 10**9)",
    ],
    ids=["again and again", "once", "compiled code"],
)
def test_an_interruption_that_is_swallowed_still_ends_the_command(body):
    code, lines = press_ctrl_c(start(SWALLOWING.format(body=body)))
    assert code == interrupts.EXIT_CODE
    assert lines == ["stopped; 1 new result is kept in here", ""]


def test_a_command_that_is_started_with_ctrl_c_ignored_goes_on(tmp_path):
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from recombine.cli.interrupts import Interrupts
with Interrupts():
    signal.raise_signal(signal.SIGINT)
sys.exit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3


def test_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with interrupts.Interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_an_exception_that_was_raised_without_a_signal(capsys):
    """As the prompt does for Ctrl-C on some systems."""
    with pytest.raises(SystemExit) as ended, interrupts.Interrupts():
        raise KeyboardInterrupt
    assert ended.value.code == interrupts.EXIT_CODE
    assert capsys.readouterr().err == f"stopped; {interrupts.NOTHING_SAVED}\n"


def test_a_store_that_cannot_be_counted_is_not_called_empty(capfd):
    def gone():
        raise OSError

    guard = interrupts.Interrupts()
    interrupts.on_interrupt(gone)
    guard._report()
    assert capfd.readouterr().err == f"stopped; {interrupts.FINISHED_IS_KEPT}\n"
