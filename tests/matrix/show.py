"""Print the matrix of all combinations, or make it anew.

python tests/matrix/show.py                 counts of all methods
python tests/matrix/show.py mdav safe       every cell of these methods, with what was said
python tests/matrix/show.py --write [mdav]  make all cells anew, or those of these methods, and pin them
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matrix.table import PINNED, all_made, cells, counts, kind, pinned, reason


def main(words: list[str]) -> None:
    """Do what the words of the command line say."""
    names = [word for word in words if word != "--write"]
    if "--write" in words:
        wanted = [cell for cell in cells() if not names or cell.way.name in names]
        lines = {**(pinned() if PINNED.exists() else {}), **{line.title: line for line in all_made(wanted)}}
        PINNED.write_text("".join(f"{lines[cell.title].line}\n" for cell in cells() if cell.title in lines))
    lines = list(pinned().values())
    if names:
        for line in lines:
            if line.title.split(" | ")[0] in names:
                print(f"{line.title:60} {kind(line):10} {reason(line) or line.text}")
    print(counts(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
