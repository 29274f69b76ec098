"""Ctrl-C: at any moment it stops the command within two seconds, in one line that says what is kept.

Python turns Ctrl-C into an exception in the main thread, which is not enough on its own. The exception waits while the
main thread is inside compiled code (XLA may compile for minutes), it is lost if it is raised in a destructor, and it
crashes extension modules that are being imported. So a thread watches too: if the main thread has not stopped soon
after Ctrl-C, the thread ends the process; during an import it does so at once, and nothing is raised.

Either way the process ends without Python's own shutdown, which unloads JAX while XLA's threads may still be running
the interrupted program, and then crashes. Files have been closed and removed by then: the exception has unwound.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn

EXIT_CODE = 130
"""What a shell reports for a command that Ctrl-C ended: 128 + SIGINT."""

GRACE = 1.5
"""Seconds in which the main thread may stop by itself, which removes its temporary files."""

NOTHING_SAVED = "nothing was saved"
FINISHED_IS_KEPT = "what was finished before is kept"

_what_is_kept: Callable[[], str] = lambda: NOTHING_SAVED  # noqa: E731


def on_interrupt(what_is_kept: Callable[[], str]) -> None:
    """From now on, Ctrl-C in this command says `stopped; ` and what this function returns.

    It may be called from any thread, so it should be quick and take no locks.
    """
    global _what_is_kept
    _what_is_kept = what_is_kept


class Interrupts:
    """A block in which Ctrl-C prints one line and ends the process with exit code 130."""

    def __init__(self) -> None:
        self._interrupted = self._reported = False
        self._reporting = threading.Lock()
        self._end_now = threading.Event()
        self._pipe: tuple[int, int] | None = None
        self._before: tuple[Any, int] = signal.default_int_handler, -1
        self._report_unraisable = sys.unraisablehook
        on_interrupt(lambda: NOTHING_SAVED)

    def __enter__(self) -> Interrupts:
        # A script's background command is started with Ctrl-C ignored; another handler belongs to our caller.
        is_ours = os.name == "posix" and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_ours and threading.current_thread() is threading.main_thread():
            reading, writing = self._pipe = os.pipe()
            os.set_blocking(writing, False)
            threading.Thread(target=self._watch, args=(reading,), name="interrupts", daemon=True).start()
            self._report_unraisable, sys.unraisablehook = sys.unraisablehook, self._unraisable
            handler = signal.signal(signal.SIGINT, self._interrupt)
            self._before = handler, signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._interrupted:
            self._end_process()
        self._restore()
        if kind is not None and issubclass(kind, KeyboardInterrupt):  # raised without a signal, as prompts do
            self._report()
            sys.exit(EXIT_CODE)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._interrupted:  # the second Ctrl-C does not disturb the clean-up after the first
            self._interrupted = True
            if _must_not_raise(frame):
                self._end_now.set()
            else:
                raise KeyboardInterrupt

    def _unraisable(self, swallowed: Any) -> None:
        """Python calls this for an exception that it must swallow, such as one raised during garbage collection."""
        if self._interrupted and issubclass(swallowed.exc_type, KeyboardInterrupt):
            self._interrupted = False
            main = threading.main_thread().ident
            threading.Timer(
                0.02, signal.pthread_kill, (main, signal.SIGINT)
            ).start()  # try again, a little later
        else:
            self._report_unraisable(swallowed)

    def _watch(self, reading: int) -> None:
        """Waits for a signal's number in the pipe, which the C part of Python's handler writes at once."""
        try:
            while (numbers := os.read(reading, 1)) and numbers[0] != signal.SIGINT:
                pass
        except OSError:
            return
        if numbers:
            self._end_now.wait(GRACE)
            self._end_process()

    def _end_process(self) -> NoReturn:
        self._report()
        _kill_children()
        os._exit(EXIT_CODE)

    def _report(self) -> None:
        with self._reporting:  # whoever comes second, main thread or watcher, waits until the line is out
            if not self._reported:
                self._reported = True
                self._write_report()

    def _write_report(self) -> None:
        try:
            kept = _what_is_kept()
        except Exception:  # the store may be gone; whatever happens, the command ends with a line
            kept = FINISHED_IS_KEPT
        # On a terminal, show the cursor again, which a bar that was cut off has hidden, and go below the "^C".
        start = "\x1b[?25h\n" if sys.stderr.isatty() else ""
        with suppress(OSError, ValueError):  # the terminal may be gone
            sys.stdout.flush()
            sys.stderr.write(f"{start}stopped; {kept}\n")
            sys.stderr.flush()

    def _restore(self) -> None:
        if self._pipe is None:
            return
        handler, descriptor = self._before
        sys.unraisablehook = self._report_unraisable
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, handler)
        os.close(self._pipe[1])  # the thread reads the end of the pipe and ends
        self._pipe = None


def _must_not_raise(frame: FrameType | None) -> bool:
    """During an import, and at the edges of the block of `Interrupts`, where nobody would catch the exception."""
    edges = Interrupts.__enter__.__code__, Interrupts.__exit__.__code__
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib") or frame.f_code in edges:
            return True
        frame = frame.f_back
    return False


def _kill_children() -> None:
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        for process in multiprocessing.active_children():
            process.kill()
