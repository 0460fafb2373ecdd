"""The commands and programs in our texts: blocks of Markdown that tests run, so that what we tell is true."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"```(sh|python)\n(.*?)```", re.S)


def blocks(markdown: str) -> list[tuple[str, str]]:
    """Return language and text of every block of commands (sh) or Python."""
    return _BLOCK.findall(markdown)


def copy_examples(folder: Path) -> None:
    """Copy the data and job files of examples/ into a folder: a job file makes its database beside itself."""
    (folder / "examples").mkdir()
    for source in (ROOT / "examples").iterdir():
        if source.suffix in (".csv", ".toml"):
            (folder / "examples" / source.name).write_bytes(source.read_bytes())
