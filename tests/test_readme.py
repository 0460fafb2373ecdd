"""The README is run: its blocks in order, in a folder of their own, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT, blocks, commands, copy_examples, refused
from typer.testing import CliRunner

from sqlmicro import help
from sqlmicro.api import verbs
from sqlmicro.cli import app
from sqlmicro.registry import methods as registered

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [
    ROOT / "README.md",
    *ROOT.glob(".github/*.md"),
    *ROOT.glob("tests/*/README.md"),
    *ROOT.glob("examples/*/README.md"),
]
BLOCKS = blocks(README.split("## Five minutes")[1].split("## Choosing")[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the examples: the job file makes its database beside itself."""
    folder = tmp_path_factory.mktemp("readme")
    copy_examples(folder)
    return folder


def run(language, text, folder):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("SQLMICRO_DB", None)
    command = [sys.executable, "-c", text] if language == "python" else ["bash", "-euo", "pipefail", "-c", text]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_every_command_of_the_readme_is_taken():
    assert len(BLOCKS) >= 9 and len(commands(README)) >= 9
    assert refused(README) == []


@pytest.mark.slow
def test_the_tour_runs(folder):
    for language, text in BLOCKS:
        expected = 1 if "# exit 1" in text else 0
        done = run(language, text, folder)
        assert done.returncode == expected, f"{text}\n{done.stdout}\n{done.stderr}"


def test_what_guarantees_cost_is_what_help_says():
    """The figures of three data sets, which `tests/bench/guarantee_costs.py --table` makes."""
    choosing = (ROOT / "sqlmicro/help/choosing.md").read_text(encoding="utf-8")
    asked, sets = ["k = 5", "l = 3", "t = 0.3", "l = 3, t = 0.2"], ["census", "households", "adult"]
    lost = {one: re.findall(rf"^\| (\w+) \| {one} \| ([\d.]+) \|", choosing, re.MULTILINE) for one in asked}
    assert all([name for name, _ in lost[one]] == sets for one in asked)
    said = " ".join(README.split())
    for one in asked:
        words = f"{one} alone" if one == "k = 5" else f"with {one}"
        assert f"{words} {' / '.join(loss for _, loss in lost[one])}" in said


def test_every_command_is_in_the_readme():
    methods = set(registered())
    for verb in set(verbs()) - methods:
        assert re.search(rf"(sqlmicro |`|--){verb}\b", README), f"{verb} is missing in the README"
    listed = CliRunner().invoke(app, ["methods"]).output
    assert "`sqlmicro methods`" in README
    assert not [name for name in methods if not re.search(rf"^{name}\b", listed, re.M)]


def test_the_readme_is_a_door():
    assert len(README.splitlines()) <= 200
    topics = set(re.findall(r"\(sqlmicro/help/([a-z-]+)\.md\)", README))
    assert topics == set(help.topics())


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(text):
    for place in re.findall(r"\]\((?!https?:)([^)#]+)", text.read_text(encoding="utf-8")):
        assert (text.parent / place).exists(), place


def test_the_tree_is_true():
    tree = README.split("## Architecture")[1].split("```")[1]
    places = " ".join(re.split(r"\s{2,}", line.strip())[0] for line in tree.splitlines())
    named = {place.rstrip("/") for place in re.findall(r"[a-z_]+(?:/|\.py)", places)}
    package = ROOT / "sqlmicro"
    rooms = {path.name for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - named == {"__init__.py", "__main__.py"}
    assert {place for place in named - rooms if not (ROOT / place).exists()} == set()


def test_the_start_is_two_commands():
    block = README.split("<!-- start -->")[1].split("<!-- end -->")[0]
    commands = [line for line in block.splitlines() if line and not line.startswith("`")]
    assert len(commands) == 2
    assert "sqlmicro safe" in commands[0]
    assert "pytest" in commands[1]


def test_the_example_data_can_be_made_again():
    made = subprocess.run(
        [sys.executable, ROOT / "examples" / "make_persons.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (ROOT / "examples" / "persons.csv").read_text(encoding="utf-8")
