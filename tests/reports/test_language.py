"""The languages of a report: every sentence has a translation with the same places, and none stays English."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from html import unescape
from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest
from conftest import reported
from sources import nodes
from typer.testing import CliRunner
from world import Workbench

import sqlmicro
from sqlmicro.attacks import criteria
from sqlmicro.attacks.knowledge import _LACKING
from sqlmicro.attacks.registry import attacks
from sqlmicro.audits import verdict as verdicts
from sqlmicro.audits.registry import audits
from sqlmicro.cli import app
from sqlmicro.options.limits import limits
from sqlmicro.registry import PROMISES, Surrogate, methods
from sqlmicro.reports import notebook
from sqlmicro.reports.charts import shortened
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import CATALOGUES, Language, has_words, language, number, percent, places, plain
from sqlmicro.reports.page import html, markdown
from sqlmicro.system.reporting import as_json, harmless
from sqlmicro.system.sentences import Said, figure, join, names, say, term

from .conftest import CITY, FREQUENT, INCOME, TABLE, World

PACKAGE = Path(sqlmicro.__file__).parent
CODES = sorted(path.stem for path in CATALOGUES.glob("*.toml"))
HANDED_ON = {"NothingToAttack": 1, "Found": None}
"""Calls whose texts a report says as they are: the place of the text, or the keyword `reason`."""


def literals(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def written() -> dict[str, str]:
    """Return the sentences that are written out in the program and in the templates, and where."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        known = "sentences import" in text or path.name == "sentences.py"
        for node in nodes(path):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            where, name = f"{path.name}:{node.lineno}", node.func.id
            if name == "say" and known:
                said = list(literals(node.args[0]))
                assert said, f"{where}: say() is given its sentence written out; term() takes what has a name elsewhere"
                found |= dict.fromkeys(said, where)
            elif name in HANDED_ON and "contracts" not in path.parts:
                given = [word.value for word in node.keywords if word.arg == "reason"]
                given += [node.args[HANDED_ON[name]]] if name == "NothingToAttack" else []
                found |= {text: where for value in given for text in literals(value)}
    for path in sorted((PACKAGE / "reports" / "templates").glob("*.jinja")):
        found |= dict.fromkeys(re.findall(r'say\("([^"]*)"', path.read_text(encoding="utf-8")), path.name)
    return found


def named() -> dict[str, str]:
    """Return the names and lines that a report takes from the program: of audits, attacks, promises and limits."""
    found = dict.fromkeys(PROMISES.values(), "PROMISES")
    found |= {one.meaning: "LIMITS" for one in limits().values()} | dict.fromkeys(verdicts._OF_KEYS.values(), "verdict")
    found |= {audit.name: "audits" for audit in audits().values()}
    found |= {audit.summary: "audits" for audit in audits().values() if audit.gate or audit.name == "safe-distance"}
    found |= {attack.name: "attacks" for attack in attacks().values()} | dict.fromkeys(_LACKING.values(), "attacks")
    checks = (verdicts.PERSONS, verdicts.JOINED, verdicts.UNION_K, verdicts.UNION_L, verdicts.DIFFERENCES)
    found |= dict.fromkeys(checks, "verdict")
    recorded = re.compile(r"""(?:_?[Cc]heck\(|^_?[A-Z]+ = (?="series-))["']([^"']+)["']""", re.MULTILINE)
    for path in (PACKAGE / "publish").glob("*.py"):
        found |= dict.fromkeys(recorded.findall(path.read_text(encoding="utf-8")), path.name)
    found |= dict.fromkeys(criteria._HOW.values(), "criteria") | dict.fromkeys(get_args(criteria.Name), "criteria")
    found |= dict.fromkeys(("Singling out", "Linkability", "Inference", "Membership"), "criteria")
    return found | dict.fromkeys(("sensitive", "weight", *get_args(Surrogate)), "apart")


@pytest.mark.parametrize("code", CODES)
def test_every_sentence_has_a_translation_and_no_translation_is_left_over(code: str) -> None:
    wanted = {**written(), **named()}
    known = language(code).sentences
    missing = [f'"{text}"  ({where})' for text, where in wanted.items() if has_words(text) and text not in known]
    assert not missing, f"languages/{code}.toml lacks:\n" + "\n".join(missing)
    kept = {"value frequency", "contribution"}
    assert not sorted(set(known) - set(wanted) - kept), f"nobody says these of languages/{code}.toml any more"


@pytest.mark.parametrize("code", CODES)
def test_a_translation_has_the_places_of_its_sentence(code: str) -> None:
    for text, translated in language(code).sentences.items():
        assert places(text) == places(translated), text
        assert text[:1].isspace() == translated[:1].isspace(), text
        assert text[-1:] != "." or translated[-1:] == ".", text


# What is said


def test_a_sentence_is_its_english_text() -> None:
    said = say("{n:,} records of {table}", n=1234, table="{x}")
    assert said == "1,234 records of {x}"
    for same in (copy.deepcopy(said), pickle.loads(pickle.dumps(said)), harmless(said)):
        assert (type(same), same, same.sentence, same.places) == (Said, said, said.sentence, said.places)
    assert json.dumps(as_json({"a": said})) == '{"a": "1,234 records of {x}"}'
    assert language("de").told(say("{n:,} records", n=1234)) == "1.234 Datensätze"


def test_names_are_never_translated_whatever_they_are_called() -> None:
    """Columns called like a sentence, `none` and `records`, stay; `none` that stands for no column does not."""
    told = language("de").told
    assert told("records") == "records"
    assert told(say("Distribution of {column}", column="records")) == "Verteilung von records"
    assert told(names(["none", "missing"])) == "none, missing"
    assert told(names([], none=say("none"))) == "keine"
    assert told(names(list("abc"), 2)) == "a, b und 1 weitere"
    assert told(join([say("1 record"), "1,5.0"], "; ")) == "1 Datensatz; 1,5.0"
    assert told(term("{weight}")) == "{weight}"
    assert told(say("Summary of {column}", column='{0} {n} net "income" %s')).endswith('{0} {n} net "income" %s')
    assert harmless(say("Release {table}", table="a\x1b[2J")) == "Release a\\x1b[2J"


def test_numbers_and_days_are_written_as_they_are_there() -> None:
    told = language("de").told
    assert [told(number(x)) for x in (0.0123456, 2, 90929693.2, -0.5, 0, None)] == [
        "0,0123", "2,00", "90.900.000", "-0,500", "0", "unbekannt",
    ]  # fmt: skip
    assert told(percent(0.3333)) == "33,3 %"
    assert told(plain(1500000.0)) == "1,5 Mio."
    assert told(figure(1234567.5, ",.1f")) == "1.234.567,5"
    assert told(figure(1e-7, ".2e")) == "1,00e-07"
    assert told(figure(date(2026, 11, 3))) == "03.11.2026"
    assert told(figure(datetime(2026, 11, 3, 4, 5), "%H:%M")) == "03.11.2026 04:05"
    assert figure(date(2026, 11, 3)) == "2026-11-03"


def test_what_has_no_translation_stays_english() -> None:
    assert language("de").told(term("an audit of a plug-in")) == "an audit of a plug-in"
    assert language("xx").told(say("{n:,} records", n=1234)) == "1,234 records"


# A whole report


def hidden(text: str) -> str:
    """Return a sentence with every letter beside its places as a dot."""
    parts = re.split(r"(\{[^{}]*\})", text)
    return "".join(part if part.startswith("{") else re.sub(r"\w", "·", part) for part in parts)


class Everything(dict[str, str]):
    """A catalogue that has every sentence, with its letters hidden."""

    def get(self, key: str, default: Any = None) -> str:
        return hidden(key)


@pytest.fixture(scope="module")
def rich(world: World, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """Return a report with every section, and more than one thing in each."""
    db = shutil.copy(world.db, tmp_path_factory.mktemp("rich"))
    given: dict[str, Any] = {"db": str(db), "alone_because": "Grund"}
    sqlmicro.safe(TABLE, columns=[CITY], k=3, method="cluster", rest="drop", into="safe", **given)
    with duckdb.connect(db) as connection:
        connection.execute("UPDATE sqlmicro.audits SET passed = false WHERE release = 2 AND threshold IS NOT NULL")
    found: Facts = reported("report", release="coarse", db=str(db), sample=50, sensitive=[CITY])
    safe: Facts = reported("report", release="safe", db=str(db), sample=50)
    return replace(
        found, safe_candidates=safe.safe_candidates, deviations=safe.deviations, steps=[*found.steps, *safe.steps]
    )


NAMES = {TABLE, INCOME, CITY, FREQUENT, "Bonn", "Köln", "coarse", "release", "by column", "person", "age", "safe",
         "Grund", "a test"}  # fmt: skip
"""What is called so by whoever made the tables, methods and options aside."""


def left(text: str, also: set[str]) -> set[str]:
    """Return the words of a text that are neither names nor methods, options, settings or figures."""
    called = NAMES | also
    called |= {shortened(name, most) for name in called for most in (16, 24, 56)}
    for name in sorted(filter(None, called), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
    text = re.sub(r"--[a-z-]+|sqlmicro[.\w]*|\bk\b|\d[\d.,e+-]*\w*|[0-9a-f]{8,}", " ", text)
    return set(re.findall(r"[^\W\d_]{2,}", text))


def shown(page: str) -> str:
    """Return the texts of a page."""
    page = re.sub(r"<style>.*?</style>", " ", page, flags=re.S)
    return unescape(re.sub(r"<[^>]+>", "\n", page))


def own_words(facts: Facts) -> set[str]:
    """Return the methods, settings and versions of a report, and labels of two names, which stay as they are."""
    found = {*methods(), *facts.versions, *map(str, facts.versions.values())}
    for step in facts.steps:
        found |= {name.replace("_", " ") for name in step.parameters}
        values = [value if isinstance(value, list) else [value] for value in step.parameters.values()]
        found |= {str(part) for value in values for part in value}
        if step.released:
            found |= {step.released.algorithm, step.released.which, step.released.unification}
    for one in facts.safe_candidates:
        found |= {one.algorithm, one.which, one.algorithm.partition("(")[0]}
    return found | {row.pair for row in facts.correlations}


@pytest.mark.slow
def test_no_text_of_a_report_passes_the_translation_by(rich: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is hidden behind dots: what can still be read was not said with `say`."""
    monkeypatch.setattr("sqlmicro.reports.page.language", lambda code: Language("xx", Everything()))
    also = own_words(rich)
    assert [line for line in shown(html(rich)).splitlines() if left(line, also)] == []
    assert [line for line in unescape(markdown(rich)).replace("\\", "").splitlines() if left(line, also)] == []
    bare = left(shown(html(replace(rich, audits=[replace(rich.audits[0], meaning="said by nobody")]))), also)
    assert bare == set(), "term() translates as a whole"
    assert left("Nobody said this of Köln: --match 3.5 k", also) == {"Nobody", "said", "this", "of"}


@pytest.mark.slow
def test_no_english_sentence_stays_in_a_german_report(rich: Facts) -> None:
    german = replace(rich, lang="de")
    sentences = language("de").sentences
    changed = [text for text, translated in sentences.items() if text != translated and len(text) > 12]
    assert len(changed) > 200
    for text in (shown(html(german)), unescape(markdown(german)).replace("\\", "")):
        flat = re.sub(r"--[a-z-]+", "", " ".join(text.split()))  # options are called the same in every language
        for sentence in changed:
            parts = [part.strip() for part in re.split(r"\{[^{}]*\}", sentence)]
            long = max(parts, key=len)
            if len(long) > 12 and long not in "".join(sentences[sentence]):
                assert long not in flat, sentence
    assert '<html lang="de">' in html(german)
    assert "Was an den geschriebenen Zeilen geprüft wurde" in html(german)


@pytest.mark.slow
def test_both_languages_have_the_same_page(rich: Facts) -> None:
    """Section by section the same elements; only their texts differ."""
    tags = [re.findall(r"<(/?[a-z0-9]+)", html(replace(rich, lang=code))) for code in ("en", "de")]
    assert tags[0] == tags[1]


@pytest.mark.slow
def test_the_command_and_python_take_the_language(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["report", "--db", world.db, "--release", "release", "--sample", "0"]
    run = CliRunner().invoke
    assert "Urteil" in run(app, [*given, "--lang", "de"]).stdout
    assert "# Veröffentlichung release\n" in run(app, [*given, "--lang", "de", "--markdown"]).stdout
    assert run(app, [*given, "--lang", "fr"]).exit_code == 2
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert "verdict" in run(app, given).stdout, "the locale of a machine does not choose the language"
    monkeypatch.setenv("SQLMICRO_LANG", "de")
    assert "Urteil" in run(app, given).stdout
    told = json.loads(run(app, [*given, "--json"]).stdout)
    assert told["lang"] == "de"
    assert told["verdict"]["headline"].startswith("k = 3 held"), "JSON is English"
    path = tmp_path / "bericht.html"
    found = sqlmicro.report(release="release", db=world.db, sample=0, lang="de", to=str(path))
    assert found["verdict"]["headline"].startswith("k = 3 held")
    assert '<html lang="de">' in path.read_text(encoding="utf-8")


def test_a_notebook_speaks_it_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlmicro.open(world.db) as session:
        found = session.report(release="release", sample=0, lang="de")
        assert "k = 3 eingehalten" in found._repr_html_()
        assert ">Bericht<" in found._repr_html_()
        with session.mdav(TABLE, columns=["age"], k=3, rest="drop") as release:
            assert "verdict" in release._repr_html_()
            monkeypatch.setenv("SQLMICRO_LANG", "de")
            assert "k = 3 eingehalten" in release._repr_html_()
            assert "Datensätze nach Klassengröße" in release._repr_html_()
            monkeypatch.setenv("SQLMICRO_LANG", "<xx>")
            assert "k = 3 held" in release._repr_html_()


def test_hostile_names_are_escaped_in_every_language(workbench: Workbench) -> None:
    name = 'a\x1b[2J"; } </style><script>alert(1)</script> {n:,} · 東京'
    db = workbench.make({name: ("DOUBLE", [float(i % 9) for i in range(60)])})
    with duckdb.connect(db) as connection:
        quoted = '"' + name.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} AS FROM records")
    found = reported("report", release=name, db=db, original="records", quasi=[name], sample=0, lang="de")
    page = html(found)
    assert "<script" not in page
    assert page.count("</style>") == 1
    assert "{n:,} · 東京" in page
    assert notebook.result("report", "x", found)
