"""The documentation site is built from what the program is made of, and its own pages name what there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sqlmicro import api

ROOT = Path(__file__).parents[1]
BUILD = ROOT / ".github" / "site" / "build.py"


@pytest.mark.parametrize("page", sorted(BUILD.parent.glob("*.md")), ids=lambda page: page.stem)
def test_every_command_and_option_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    commands = {name for name in re.findall(r"`sqlmicro ([a-z-]+)", text) if name != "help"}
    assert commands <= api.verbs().keys()
    options = {one.option for verb in api.verbs().values() for one in verb.parameters}
    assert set(re.findall(r"(?<=[ `])--[a-z][a-z-]*", text)) <= options
    for command, said in re.findall(r"`sqlmicro ([a-z-]+)([^`]*)`", text):
        own = {one.option for one in api.verbs()[command].parameters} if command != "help" else set()
        assert set(re.findall(r"--[a-z-]+", said)) <= own, command


def test_a_man_page_is_written_for_every_command(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(BUILD), "man", str(tmp_path)], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"sqlmicro.1", *(f"sqlmicro-{name}.1" for name in api.verbs())}
    page = (tmp_path / "sqlmicro-safe.1").read_text(encoding="utf-8")
    assert page.startswith('.TH "sqlmicro-safe" 1')
    for parameter in api.verbs()["safe"].parameters:
        assert f"\n.TP\n.B {parameter.option}".replace("-", "\\-") in page


@pytest.mark.slow
def test_the_site_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the site's builder: pip install 'sqlmicro[docs]'")
    done = subprocess.run([sys.executable, str(BUILD), "site", str(tmp_path / "site")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr  # mkdocs --strict: a link that leads nowhere is an error
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "coming-from.html", "reference/commands.html", "gallery/report.html"} <= pages
    for path in (tmp_path / "site").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""<(?:script|link|img)[^>]+(?:src|href)=["']https?:""", text), path
