"""Help by topic: Markdown texts beside this file, shown on the terminal. May import `reports` and what is below it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from sqlmicro.errors import ParameterError, did_you_mean
from sqlmicro.reports.text import table, width

_FOLDER = Path(__file__).parent
_ITEM = re.compile(r"(\s*)(- |\d+\. )")
START = """\
sqlmicro turns a table about people into one that can be released. Start with:

  register  read CSV, Parquet, JSON files into a database
  profile   see columns, and which may identify a person
  compare   try methods: disclosure risk against loss
  safe      every record occurs k times or more; publish
  audit     hold a release to its promise: a gate for CI

`sqlmicro COMMAND --help` shows the options that most runs need, `--help-all` all of them. `sqlmicro help` explains:
concepts, choosing a method, missing values and more. `sqlmicro --help` lists the commands of a day, `--help-all` all
commands, `sqlmicro methods` all methods.
"""


def start() -> str:
    """Return the five commands one starts with, and where to go next."""
    return terminal(START)


def topics() -> dict[str, str]:
    """Return the title of every topic, by its name.

    >>> topics()["nulls"]
    'Missing values'
    """
    order = ("concepts", "choosing", "methods")
    found = {path.stem: _title(path) for path in sorted(_FOLDER.glob("*.md"))}
    return {name: found[name] for name in (*order, *(name for name in found if name not in order))}


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def source(topic: str) -> str:
    """Return a topic as it is written, in Markdown.

    Raises
    ------
    ParameterError
        When there is none of that name.
    """
    if topic not in topics():
        raise ParameterError("help", f"there is no topic {topic!r}", do=did_you_mean(topic, topics()))
    return (_FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def overview() -> str:
    """Return the list of topics."""
    rows = [[name, title] for name, title in topics().items()]
    return terminal("sqlmicro help TOPIC, of these:\n") + "\n" + table(rows, ["topic", "about"])


def terminal(markdown: str) -> str:
    """Return Markdown as plain text as wide as the terminal: paragraphs are wrapped, commands and tables are not.

    >>> print(terminal("# Title\\n\\nA **bold** word.\\n\\n| k | IL |\\n|---|---:|\\n| 3 | 16.9 |\\n"))
    TITLE
    <BLANKLINE>
    A bold word.
    <BLANKLINE>
    k    IL
    3  16.9
    """
    blocks, code = [], False
    for block in re.split(r"\n\n+", re.sub(r"<!--.*?-->\n", "", markdown).strip("\n")):
        # A block of commands may have blank lines of its own.
        fences = block.count("```")
        if code or fences or block.startswith("  "):
            lines = [line for line in block.splitlines() if not line.startswith("```")]
            blocks.append(
                "\n".join(lines if block.startswith("  ") and not fences else ["  " + line for line in lines])
            )
            code ^= fences % 2 == 1
        elif block.startswith("|"):
            blocks.append(_table(block))
        elif block.startswith("#"):
            blocks.append(_plain(block.lstrip("# ")).upper())
        else:
            blocks.append("\n".join(_wrapped(item) for item in _items(block)))
    return "\n\n".join(blocks)


def _plain(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"\1", text)


def _items(block: str) -> list[str]:
    """Return the items of a list, each on one line, or the whole paragraph."""
    items: list[str] = []
    for line in block.splitlines():
        if _ITEM.match(line) or not items:
            items.append(line.rstrip())
        else:
            items[-1] += " " + line.strip()
    return items


def _wrapped(text: str) -> str:
    found = _ITEM.match(text)
    return textwrap.fill(
        _plain(text),
        width(),
        subsequent_indent=" " * len(found.group(0)) if found else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(block: str) -> str:
    """Return a table of pipes as columns, or where it does not fit as a paragraph for every row."""
    rows = [[_plain(cell.strip()) for cell in line.strip().strip("|").split(" | ")] for line in block.splitlines()]
    rows = [[cell.strip("| ") for cell in row] for row in rows]
    right = [j for j, mark in enumerate(block.splitlines()[1].strip("|").split("|")) if mark.strip().endswith(":")]
    header, body = rows[0], rows[2:]
    shown = table(body, header, right)
    if max(len(line) for line in shown.splitlines()) <= width():
        return shown
    named = [
        [
            row[0],
            *(f"  {name}: {cell}" if name else f"  {cell}" for name, cell in zip(header[1:], row[1:], strict=True)),
        ]
        for row in body
    ]
    return "\n".join(
        textwrap.fill(line, width(), subsequent_indent="    ", break_on_hyphens=False) for row in named for line in row
    )
