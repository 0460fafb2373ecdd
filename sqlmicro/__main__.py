"""The entry point: Ctrl-C and SIGTERM are answered alike, also while the program is still being loaded."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any, NoReturn

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


def main() -> None:
    """Run the command line: exit 130 after Ctrl-C, 143 after SIGTERM, with nothing left behind."""
    terminated = False

    def terminate(number: int, frame: Any) -> None:
        nonlocal terminated
        terminated = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the first one is being answered
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminate)
    try:
        from sqlmicro.cli import app

        app()
    except KeyboardInterrupt:
        _end(TERMINATED if terminated else INTERRUPTED)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end(TERMINATED if terminated else INTERRUPTED)


def _end(code: int) -> NoReturn:
    """End with this code; Python would die of the signal where Ctrl-C met code made of text, as numba makes it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
