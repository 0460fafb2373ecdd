"""The README is run: its blocks in order, in a folder of their own, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT, blocks, copy_examples

README = (ROOT / "README.md").read_text(encoding="utf-8")
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


@pytest.mark.long
def test_the_tour_runs(folder):
    assert len(BLOCKS) >= 9
    for language, text in BLOCKS:
        expected = 1 if "# exit 1" in text else 0
        done = run(language, text, folder)
        assert done.returncode == expected, f"{text}\n{done.stdout}\n{done.stderr}"


def test_every_command_is_in_the_readme():
    from sqlmicro.api import verbs

    for verb in verbs():
        assert re.search(rf"sqlmicro {verb}\b|`{verb}`", README), f"{verb} is missing in the README"


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
