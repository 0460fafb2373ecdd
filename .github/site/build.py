"""Build the documentation site, or man pages, from what the program itself is made of: nothing is written twice.

    pip install '.[docs]' && python .github/site/build.py site FOLDER    # pages, the reference, and a gallery made anew
    python .github/site/build.py man FOLDER                              # sqlmicro.1 and one page for each command

It reaches no network. The texts are the README, the topics of `sqlmicro help`, the options as they are declared, the
docstrings, and the pages beside this file.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import sqlmicro
from sqlmicro import api, help
from sqlmicro.options.params import REQUIRED, Parameter
from sqlmicro.registry import methods

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VERSION = version("sqlmicro")
FOR_PEOPLE = ("open", "Session", "Release", "Audit", "Result")
_SECTION = re.compile(r"^([A-Z]\w+)\n-{3,}\n", re.MULTILINE)
_LINK = re.compile(r"\[([^][]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def site(folder: Path) -> None:
    """Write the sources of the site into a temporary folder, and have mkdocs make the site of them."""
    with tempfile.TemporaryDirectory() as temp:
        docs = Path(temp) / "docs"
        (docs / "help").mkdir(parents=True)
        (docs / "reference").mkdir()
        (docs / "index.md").write_text(_linked((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
        for topic in help.topics():
            (docs / "help" / f"{topic}.md").write_text(_linked(help.source(topic), "../"), encoding="utf-8")
        for page in ("coming-from.md", "gallery.md"):
            shutil.copy(HERE / page, docs)
        pages = {"commands": _commands, "python": _python, "templates": _templates}
        for name, page in pages.items():
            (docs / "reference" / f"{name}.md").write_text(page(), encoding="utf-8")
        _gallery(docs / "gallery")
        (Path(temp) / "mkdocs.yml").write_text(json.dumps(_settings(folder.absolute())), encoding="utf-8")
        quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-q"], cwd=temp, check=True, env=quiet)


def _settings(folder: Path) -> dict[str, object]:
    topics = [{title: f"help/{topic}.md"} for topic, title in help.topics().items()]
    reference = [
        {"Commands": "reference/commands.md"},
        {"Python": "reference/python.md"},
        {"SQL": "reference/templates.md"},
    ]
    return {
        "site_name": "sqlmicro",
        "site_description": "Anonymize tables about people where they are: in DuckDB, with SQL you can read.",
        "site_dir": str(folder),
        "use_directory_urls": False,  # it can be read from a folder
        "theme": {
            "name": "material",
            "font": False,  # of the reader's machine
            "features": ["navigation.tabs", "navigation.top", "content.code.copy", "search.highlight"],
            "palette": [
                {"media": f"(prefers-color-scheme: {mode})", "scheme": scheme, "toggle": {"icon": icon, "name": mode}}
                for mode, scheme, icon in (
                    ("light", "default", "material/weather-night"), ("dark", "slate", "material/weather-sunny")
                )
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": ["tables", {"toc": {"permalink": True, "toc_depth": 2}}, "pymdownx.superfences"],
        "validation": {"anchors": "warn"},
        "nav": [
            {"Start": "index.md"}, {"Coming from other tools": "coming-from.md"}, {"Topics": topics},
            {"Gallery": "gallery.md"}, {"Reference": reference},
        ],
    }  # fmt: skip


def _linked(text: str, up: str = "") -> str:
    """Return Markdown whose links to topics go to their pages; those to files of the project are text alone."""

    def replaced(found: re.Match[str]) -> str:
        topic = re.fullmatch(r"(?:sqlmicro/help/)?([a-z-]+)\.md", found[2])
        is_page = topic is not None and topic[1] in help.topics()
        return f"[{found[1]}]({up}help/{topic[1]}.md{found[3] or ''})" if topic and is_page else found[1]

    return _LINK.sub(replaced, text)


def _commands() -> str:
    """Return every command with its options, in Markdown."""
    found = [
        "# Commands\n",
        "`sqlmicro COMMAND --help` shows the options that most runs need, `--help-all` all of them.\n",
    ]
    for name, verb in api.verbs().items():
        found.append(f"## {name}\n\n{verb.text}\n")
        if name in methods():
            found.append(f"Promises: {methods()[name].promise}. Source: {methods()[name].source}.\n")
        found += ["| option | | what it does |", "|---|---|---|"]
        found += [f"| `{_option(one)}` | {_default(one)} | {_cell(one.param.help)} |" for one in verb.parameters]
        found.append("")
    return "\n".join(found)


def _option(one: Parameter) -> str:
    return one.param.metavar or one.name.upper() if one.param.positional else one.option


def _default(one: Parameter) -> str:
    if one.default is REQUIRED:
        return "required"
    shown = ", ".join(map(str, one.default)) if isinstance(one.default, tuple) else one.default
    return "" if shown in (None, "", False) else f"default {_cell(str(shown))}"


def _cell(text: str) -> str:
    return re.sub(r"([|<>*_{}\[\]])", r"\\\1", " ".join(text.split()))


def _python() -> str:
    """Return what people call from Python, in Markdown: of methods of a session what the functions say already."""
    found = ["# Python\n", "`import sqlmicro as sm`. `sqlmicro help python` is the way in; here is everything.\n"]
    for name in dict.fromkeys((*FOR_PEOPLE, *sorted(dir(sqlmicro)))):
        thing = getattr(sqlmicro, name)
        if name.startswith("_") or not (inspect.isfunction(thing) or name in FOR_PEOPLE):
            continue
        found.append(f"## {name}\n\n{_docstring(inspect.getdoc(thing) or '')}\n")
        if inspect.isclass(thing) and name == "Release":
            for own, member in vars(thing).items():
                if not own.startswith("_") and (doc := inspect.getdoc(member)):
                    found.append(f"### {name}.{own}\n\n{_docstring(doc)}\n")
    return "\n".join(found)


def _docstring(text: str) -> str:
    """Return a docstring of numpydoc in Markdown: parameters as a list, examples as code."""
    head, *parts = _SECTION.split(text)
    found = [head]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        found.append(f"**{title}**\n")
        if title == "Examples":
            found.append(f"```pycon\n{body.strip()}\n```\n")
        elif title in ("Parameters", "Returns", "Raises", "Attributes"):
            found += [f"- `{first}`{': ' + rest if rest else ''}" for first, rest in _items(body)] + [""]
        else:
            found.append(body)
    return "\n".join(found)


def _items(body: str) -> Iterator[tuple[str, str]]:
    for item in re.split(r"\n(?=\S)", body.strip()):
        first, _, rest = item.partition("\n")
        yield first, _cell(rest)


def _templates() -> str:
    """Return the index of the SQL templates."""
    return _linked((ROOT / "sql" / "README.md").read_text(encoding="utf-8"))


def _gallery(folder: Path) -> None:
    """Make a release of the example data, and what its pages show: everything anew, with the program itself."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as temp:
        db = str(Path(temp) / "w.duckdb")
        sqlmicro.register([str(ROOT / "examples" / "persons.csv")], db=db, table="persons")
        sqlmicro.safe("persons", db=db, seed="gallery")
        sqlmicro.report(release="persons_anonymized", db=db, to=str(folder / "report.html"))
        sqlmicro.report(release="persons_anonymized", db=db, to=str(folder / "bericht.html"), lang="de")


def man(folder: Path) -> None:
    """Write a man page for the program, and one for each command."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = [(f"sqlmicro {name}", verb.text) for name, verb in api.verbs().items()]
    head = "Anonymize tables about people where they are: in DuckDB, with SQL you can read."
    (folder / "sqlmicro.1").write_text(_roff("sqlmicro", head, "COMMANDS", listed), encoding="utf-8")
    for name, verb in api.verbs().items():
        options = [(" ".join(filter(None, (_option(one), _default(one)))), one.param.help) for one in verb.parameters]
        (folder / f"sqlmicro-{name}.1").write_text(
            _roff(f"sqlmicro-{name}", verb.text, "OPTIONS", options), encoding="utf-8"
        )


def _roff(name: str, text: str, title: str, items: Sequence[tuple[str, str]]) -> str:
    def plain(words: str) -> str:
        return re.sub(r"^([.'])", r"\\&\1", " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-"))

    lines = [f'.TH "{name}" 1 "" "sqlmicro {VERSION}"', ".SH NAME", f"{plain(name)} \\- {plain(text)}", f".SH {title}"]
    for term, said in items:
        lines += [".TP", f".B {plain(term)}", plain(said)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    {"site": site, "man": man}[sys.argv[1]](Path(sys.argv[2]))
