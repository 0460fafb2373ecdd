"""The entry point: Ctrl-C and SIGTERM are answered alike, also while the program is still being loaded."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

from sqlmicro.system import dataclass_methods, interrupts, packages
from sqlmicro.system.arrow import memory_of_the_system, without_pandas

_COLLECTED = (200_000, 20, 100)
"""What loads a thousand modules makes no garbage: looking for it as often as Python does costs a tenth of a command."""

_LOADED = 100_000 * 1024
"""Bytes of addresses with which the command line can be loaded, and says itself what a run needs."""


def main() -> None:
    """Run the command line: exit 130 after Ctrl-C, 143 after SIGTERM, with nothing published and nothing left behind.

    A signal that comes after the commit stops nothing: record and purge are finished, and the exit code is theirs.
    """
    watch = interrupts.answer()
    gc.set_threshold(*_COLLECTED)
    if _is_short():
        _refuse()
    try:
        if sys.argv[1:] == ["--version"]:  # the command line itself takes twice as long to load as Python
            sys.stdout.write(f"{packages.ours()}\n")
            return
        without_pandas()
        memory_of_the_system()
        dataclass_methods.when_called()
        from sqlmicro.cli import app

        app()
    except BaseException as error:
        if watch.stopped or isinstance(error, KeyboardInterrupt):  # which the modules on the way may have turned
            _end(watch)
        if watch.committed:  # while it shuts down Python would die of a signal again
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
        if isinstance(error, MemoryError):  # while the program was being loaded
            _refuse()
        raise


def _is_short() -> bool:
    """Tell whether the process may have so few addresses that not even the program can be loaded.

    With so few an import may fail in any way, and so may an exception on its way out.
    """
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return False
    except ImportError:  # it is there, and cannot be loaded
        return True
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit != resource.RLIM_INFINITY and limit < _LOADED


def _refuse() -> NoReturn:
    os.write(2, b"error: memory: the process must be allowed more (ulimit -v). Nothing was published.\n")
    os._exit(3)


def _end(watch: interrupts.Watch) -> NoReturn:
    """End at once; Python would die of the signal where Ctrl-C met code made of text, as numba makes it.

    A signal just before a block begins, or just as it ends, skips the end of that block: its folder is removed here.
    """
    watch.held += 1  # no further signal interrupts this
    with contextlib.suppress(Exception):  # whatever is in the way: the run ends
        from sqlmicro.system import scratch

        scratch.remove_all()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(128 + (watch.came or signal.SIGINT))


if __name__ == "__main__":
    main()
