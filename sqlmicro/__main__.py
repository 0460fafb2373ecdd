"""The entry point: Ctrl-C is answered also while the program is still being loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from sqlmicro.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
