"""The help: every command in it runs, every topic fits the terminal, the measured table is what is measured."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT, blocks, commands, copy_examples, refused
from typer.testing import CliRunner

from sqlmicro import help
from sqlmicro.api import verbs
from sqlmicro.cli import app
from sqlmicro.errors import ParameterError
from sqlmicro.help.tables import filled
from sqlmicro.registry import methods

TOPICS = list(help.topics())
RUN = ("in-place",)
"""Of these the quick suite runs the commands; of all it asks whether the command line takes them."""


def run(line: str, folder: Path) -> None:
    """Run one command as a reader would; our own in this process, which saves its start."""
    words = shlex.split(line, comments=True)
    if words[0] != "sqlmicro":
        subprocess.run(words, cwd=folder, check=True)
        return
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, f"{line}\n{done.output}"


@pytest.mark.parametrize("topic", [pytest.param(t, marks=[] if t in RUN else [pytest.mark.slow]) for t in TOPICS])
def test_every_block_runs(topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SQLMICRO_DB", raising=False)
    found = blocks(help.source(topic))
    assert found or topic in ("glossary", "running", "spark")
    for language, text in found:
        if language == "python":
            exec(compile(text, topic, "exec"), {})
        else:
            for line in filter(str.strip, text.splitlines()):
                run(line, tmp_path)


def test_every_command_is_taken() -> None:
    assert sum(len(commands(help.source(topic))) for topic in TOPICS) > 25
    assert [found for topic in TOPICS for found in refused(help.source(topic))] == []
    assert refused("```sh\nsqlmicro mdav --k x\nsqlmicro nothing\n```\n") != []


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_texts_fit_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for text in (help.start(), help.overview(), *(help.terminal(help.source(topic)) for topic in TOPICS)):
        assert "**" not in text and "```" not in text
        # A command is shown as it is typed, on one line.
        wide = [line for line in text.splitlines() if len(line) > min(columns, 100) and not line.startswith("  ")]
        assert not wide


def test_a_table_that_does_not_fit_becomes_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = "| method | what it does | promised |\n|---|---|---|\n| mdav | groups far records first | every record |\n"
    assert help.terminal(table) == "mdav\n  what it does: groups far records first\n  promised: every record"


WRITTEN = [ROOT / "README.md", *sorted(Path(help.__file__).parent.glob("*.md"))]


def test_the_tables_of_methods_are_those_of_the_catalogue() -> None:
    assert all(f"`{name}`" in filled(help.source("methods")) for name in methods())
    for path in WRITTEN:
        text = path.read_text(encoding="utf-8")
        if os.environ.get("SQLMICRO_GOLDEN") == "write":
            path.write_text(filled(text), encoding="utf-8")
        elif filled(text) != text:
            pytest.fail(f"{path.name} has an old table of methods: SQLMICRO_GOLDEN=write pytest tests/test_help.py")


def test_commands_that_are_named_exist() -> None:
    named = {word for topic in TOPICS for word in re.findall(r"`sqlmicro ([a-z][a-z-]*)", help.source(topic))}
    named |= set(re.findall(r"^  ([a-z]+) ", help.START, re.M))
    assert named - {"help"} <= set(verbs())
    assert len(re.findall(r"^  ([a-z]+) ", help.START, re.M)) == 5


def test_the_command_lists_and_shows_topics() -> None:
    runner = CliRunner()
    assert "glossary" in runner.invoke(app, ["help"]).output
    assert "MISSING VALUES" in runner.invoke(app, ["help", "nulls"]).output
    wrong = runner.invoke(app, ["help", "null"])
    assert wrong.exit_code == 2
    assert "Did you mean 'nulls'?" in wrong.output
    with pytest.raises(ParameterError):
        help.source("../help/nulls")


@pytest.mark.long
@pytest.mark.slow
def test_the_table_of_methods_is_what_is_measured(data_folder: Path) -> None:
    """All of it with WHOLE=1; else a line of those that group records, group values, add noise and swap values."""
    some = () if os.environ.get("WHOLE") else ("mdav", "individual-ranking", "noise amount=0.1", "swap percent=5")
    only = ["--k", "3", "--only", *some] if some else []
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "bench" / "choosing.py", "--table", "--data", data_folder, *only],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    shown = [line for line in help.source("choosing").splitlines() if re.match(r"\| `[^|]*\| *\d* \|.*\d \|$", line)]
    assert len(shown) == 14
    if some:
        shown = [
            line for line in shown if line.startswith(tuple(f"| `{one}` | {k} |" for one in some for k in ("3", "")))
        ]
        assert len(shown) == len(some)

    def figures(lines: list[str]) -> list[str]:
        return [line.rsplit("|", 2)[0] for line in lines]  # all but the seconds

    assert figures(shown) == figures(done.stdout.splitlines())


ALIKE = (
    ("audit", "check", "attack", "report"), ("profile", "scan"), ("explain", "plan"), ("ledger", "series"),
)  # fmt: skip
"""Commands that do what sounds alike."""


@pytest.mark.parametrize("names", ALIKE, ids=" ".join)
def test_each_of_what_sounds_alike_says_when_to_take_which(names: tuple[str, ...]) -> None:
    for name in names:
        said = " ".join(verbs()[name].text.split())
        assert f"Take `{name}` " in said, f"{name} says when to take it"
        assert all(f"`{other}`" in said for other in names), f"{name} names the others"
    assert "Take `schema` " in verbs()["schema"].text and "`init`" in verbs()["schema"].text
