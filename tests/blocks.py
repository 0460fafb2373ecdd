"""The commands and programs in our texts: blocks of Markdown that tests run, so that what we tell is true."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import typer.main

from sqlmicro.cli import app

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"```(sh|python)\n(.*?)```", re.S)


def blocks(markdown: str) -> list[tuple[str, str]]:
    """Return language and text of every block of commands (sh) or Python; a command of several lines is one line."""
    return [(language, re.sub(r"\\\n\s*", "", text)) for language, text in _BLOCK.findall(markdown)]


def commands(markdown: str) -> list[list[str]]:
    """Return the words of every command of ours in the blocks of a text."""
    lines = [line for language, text in blocks(markdown) if language == "sh" for line in text.splitlines()]
    split = [list(takewhile(lambda word: word not in (">", "|"), shlex.split(line, comments=True))) for line in lines]
    return [words[1:] for words in split if words[:1] == ["sqlmicro"]]


def refused(markdown: str) -> list[str]:
    """Return the commands of ours in a text that the command line would not take, and why; none is run."""
    group, found = typer.main.get_command(app), []
    for words in commands(markdown):
        context = group.make_context("sqlmicro", [], resilient_parsing=True)
        try:
            name, command, rest = group.resolve_command(context, words)
            command.make_context(name, rest)
        except Exception as error:
            found.append(f"{words}: {error}")
    return found


def copy_examples(folder: Path) -> None:
    """Copy the data and job files of examples/ into a folder: a job file makes its database beside itself."""
    for source in (ROOT / "examples").rglob("*"):
        if source.suffix in (".csv", ".toml"):
            copy = folder / source.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
