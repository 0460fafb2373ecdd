"""The page of a report: escaped, self-contained, labelled for screen readers, in colours that can be told apart."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from sqlmicro.audits.registry import audits
from sqlmicro.audits.verdict import Attacked, Promised, PromiseReport, Verdict
from sqlmicro.audits.verdict_words import told
from sqlmicro.reports import charts
from sqlmicro.reports.charts import Bar, Point, pareto
from sqlmicro.reports.content import THRESHOLDS, judged, judged_attack, judged_class, tiles
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.page import escaped, html, markdown
from sqlmicro.reports.sections import sections

from .conftest import CITY, FREQUENT, INCOME, TABLE

VOID = {"meta", "br", "img"}


class Tree(HTMLParser):
    """The elements of a page in order: tag, attributes, ancestors and text; unbalanced tags raise."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict[str, Any]] = []
        self.open: list[dict[str, Any]] = []
        self.feed(text)
        self.close()
        assert not self.open, [element["tag"] for element in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        inside = [element["tag"] for element in self.open]
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "inside": inside}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data

    def all(self, *tags: str) -> list[dict[str, Any]]:
        return [element for element in self.elements if element["tag"] in tags]


@pytest.fixture(scope="module")
def tree(page: str) -> Tree:
    return Tree(page)


def test_names_and_values_are_escaped(page: str, tree: Tree) -> None:
    assert not tree.all("script", "img", "i", "b")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    headings = [element["text"] for element in tree.all("h3")]
    assert {INCOME, CITY} <= set(headings)
    assert FREQUENT in [element["text"] for element in tree.all("th")]
    assert any(element["text"] == f"Distribution of {CITY}" for element in tree.all("title"))


def test_the_page_needs_nothing_but_itself(page: str, tree: Tree) -> None:
    assert not tree.all("script", "link", "iframe", "object", "embed", "base", "form")
    urls = [value for e in tree.elements for name, value in e["attrs"].items() if name in ("src", "href", "xlink:href")]
    assert urls
    assert all(value.startswith("#") for value in urls)
    assert "url(" not in page
    assert "@import" not in page
    assert not [name for e in tree.elements for name in e["attrs"] if name.startswith("on")]
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}


def test_headings_and_landmarks(tree: Tree) -> None:
    levels = [int(element["tag"][1]) for element in tree.all("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert [len(tree.all(tag)) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    assert tree.all("html")[0]["attrs"]["lang"] == "en"
    assert tree.all("a")[0]["attrs"] == {"class": "skip", "href": "#report"}


def test_every_reference_has_its_target(tree: Tree) -> None:
    ids = [element["attrs"]["id"] for element in tree.elements if "id" in element["attrs"]]
    assert len(ids) == len(set(ids))
    for element in tree.elements:
        for name in ("href", "aria-labelledby"):
            for target in element["attrs"].get(name, "").replace("#", " ").split():
                assert target in ids


def test_every_chart_is_named_and_has_a_table_beside_it(tree: Tree) -> None:
    figures = tree.all("svg")
    assert len(figures) >= 6
    for svg in figures:
        assert svg["attrs"]["role"] == "img"
        title, desc = svg["attrs"]["aria-labelledby"].split()
        texts = {e["attrs"].get("id"): e["text"] for e in tree.all("title", "desc")}
        assert texts[title].strip()
        assert texts[desc].strip()
    order = [e["tag"] for e in tree.elements if e["tag"] in ("svg", "table")]
    assert all(after == "table" for before, after in zip(order, [*order[1:], ""], strict=True) if before == "svg")


def test_every_table_has_a_caption_and_scopes(tree: Tree) -> None:
    tables = tree.all("table")
    assert len(tables) == len(tree.all("caption"))
    assert all(element["text"].strip() for element in tree.all("caption"))
    assert all(element["attrs"].get("scope") in ("col", "row") for element in tree.all("th"))
    boxes = [e for e in tree.elements if e["attrs"].get("class") == "scroll"]
    assert len(boxes) == len(tables)
    assert all(e["attrs"]["tabindex"] == "0" and e["attrs"]["role"] == "region" for e in boxes)


def colours(page: str) -> dict[str, dict[str, str]]:
    """Return the variables of light, dark and print; a mode that leaves one out has that of light."""
    blocks = re.findall(r":root \{([^}]*)\}", page)
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks]
    return {name: {**found[0], **block} for name, block in zip(("light", "dark", "print"), found, strict=True)}


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2).

    Black on white has 21.
    """

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark", "print"])
def test_colours_can_be_told_apart(page: str, mode: str) -> None:
    found = colours(page)[mode]
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for text in ("ink", "quiet", "link", "green", "amber", "red", "grey"):
        for ground in ("paper", "panel"):
            assert contrast(found[text], found[ground]) >= 4.5, (mode, text, ground)
    for shape, ground in (
        ("before", "paper"), ("after", "paper"), ("after", "before-fill"), ("red", "paper"), ("focus", "paper"),
        ("quiet", "paper"),
    ):  # fmt: skip
        assert contrast(found[shape], found[ground]) >= 3, (mode, shape, ground)


def test_markdown_says_the_same(found: Facts) -> None:
    text = markdown(found)
    for section in sections(found):
        assert f"\n## {escaped(section.title)}\n" in text
        for block in section.blocks:
            for words in (*block.text, *block.items):
                assert escaped(words) in text
            if block.table:
                for row in block.table.rows:
                    assert "| " + " | ".join(map(escaped, row)) + " |" in text
    assert "<" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


def points(*pairs: tuple[str, float, float]) -> list[Point]:
    return [Point(*pair) for pair in pairs]


def test_the_front_is_what_nothing_beats() -> None:
    """By hand: b beats c (as risky, less lost) and d (both); e has the values of b, and neither beats the other."""
    found = pareto(points(("a", 1.0, 0.0), ("b", 0.5, 2.0), ("c", 0.5, 3.0), ("d", 0.6, 4.0), ("e", 0.5, 2.0)))
    assert [point.label for point in found if point.front] == ["a", "b", "e"]


def test_labels_of_the_map_cover_neither_each_other_nor_points() -> None:
    crowd = points(*((f"release {i}", 0.1 + 0.01 * (i % 3), 5 + 0.2 * i) for i in range(12)), ("far", 1.0, 60.0))
    tree = Tree(str(charts.ru_map(crowd)))
    labels = [e for e in tree.all("text") if e["attrs"].get("class") == "label"]
    assert len(labels) == len(crowd)
    boxes = [
        (float(e["attrs"]["x"]), float(e["attrs"]["y"]), float(e["attrs"]["x"]) + 7 * len(e["text"])) for e in labels
    ]
    for number, (left, base, right) in enumerate(boxes):
        for other_left, other_base, other_right in boxes[:number]:
            assert right <= other_left or other_right <= left or abs(base - other_base) >= 12.9
        for dot in tree.all("circle"):
            x, y = float(dot["attrs"]["cx"]), float(dot["attrs"]["cy"])
            assert not (left < x < right and base - 10 < y < base + 3)


def test_a_map_of_its_own_has_its_own_colours_and_escapes_labels() -> None:
    svg = str(charts.ru_map(points(("<b>", 0.2, 1.0), ("&", 0.1, 2.0)), standalone=True))
    assert "prefers-color-scheme: dark" in svg
    assert "&lt;b&gt;" in svg
    assert "<b>" not in svg
    assert "var(--ink)" in svg
    assert "<style>" not in str(charts.ru_map(points(("a", 0.2, 1.0))))
    Tree(svg)


def test_a_map_without_points_or_with_one_is_drawn() -> None:
    for crowd in (points(), points(("a", 0.0, 0.0)), points(("a", float("inf"), 1.0), ("b", 0.5, 1.0))):
        Tree(str(charts.ru_map(crowd)))


def test_a_long_scale_is_logarithmic() -> None:
    near = str(charts.ru_map(points(("a", 0.2, 1.0), ("b", 0.1, 2.0))))
    far = str(charts.ru_map(points(("a", 0.2, 0.001), ("b", 0.1, 50.0))))
    assert "logarithmic" not in near
    assert "logarithmic" in far


def test_bars_are_as_long_as_their_shares() -> None:
    """0.25 of an axis that ends at 0.6 is half as long as 0.5."""
    rows = [Bar("a", 0.5, 0.25), Bar("b", 0.1, 0.5)]
    tree = Tree(str(charts.bars("x", "t", rows)))
    wide = {
        kind: [float(e["attrs"]["width"]) for e in tree.all("rect") if e["attrs"]["class"] == kind][1:]
        for kind in ("before", "after")
    }
    assert wide["before"][0] == pytest.approx(2 * wide["after"][0], abs=0.02)
    assert wide["after"][1] == pytest.approx(wide["before"][0], abs=0.02)
    assert wide["before"][1] == pytest.approx(wide["before"][0] / 5, abs=0.02)


def test_the_verdict_is_the_first_thing(tree: Tree, found: Facts) -> None:
    first = next(e for e in tree.all("h2"))
    assert first["text"] == 'k = 3 held over net "income", age only'
    broken = replace(found, verdict=told(Verdict((Promised(3, ("age",), 2),), ("age",), 2, {})))
    assert "k = 3 NOT held" in html(broken)
    assert "occurs in 2 records only" in html(broken)
    assert TABLE in tree.all("header")[0]["text"]


def test_every_figure_of_the_first_screen_is_judged(found: Facts) -> None:
    """By what was promised: k = 4 allows one try in four."""
    told = found.verdict
    promise = [PromiseReport(4, ["age"], 4)]

    def judged(low: float, smallest: int, il: float | None) -> list[str]:
        attack = Attacked(found.attacks[0].name, low, low, 0.01, 1000, False)
        verdict = replace(told, k_released=smallest, promised=promise, attack=attack)
        facts = replace(found, verdict=verdict, loss=replace(found.loss, il=il))
        return [
            meaning.rpartition("That is ")[2].partition(" The column")[0].partition(" But")[0]
            for _, _, meaning in tiles(facts)
        ]

    assert judged(0.249, 4, 4.9) == ["what was promised: 4 or more.", "little.", "within what k = 4 allows: 25.0 %."]
    assert judged(0.251, 3, 19.9) == [
        "fewer than was promised: 4.", "more than a little: compare the columns below.",
        "more than k = 4 allows: 25.0 %.",
    ]  # fmt: skip
    assert judged(0.2, 5, 54.0)[1] == "much: see below which columns are still of use."
    nothing = replace(found, verdict=replace(told, promised=[], attack=None), loss=replace(found.loss, il=None))
    assert not any("That is " in meaning for _, _, meaning in tiles(nothing))


def test_every_figure_of_a_table_is_judged_or_no_threshold_is_known() -> None:
    """Worked by hand: a class of 11 is a risk of 9 %, one of 3 a third; a k that is held is no good one by that."""
    assert [judged("k-anonymity", k).colour for k in (11, 10, 3, 2)] == ["green", "amber", "amber", "red"]
    assert [judged("prosecutor-risk", r).colour for r in (1 / 11, 0.1, 0.34)] == ["green", "amber", "red"]
    assert [judged_class(k, 5).colour for k in (12, 5, 4)] == ["green", "amber", "red"]
    assert [judged_attack(r, r, 0.001, 5).colour for r in (0.05, 0.2, 0.21)] == ["green", "amber", "red"]
    assert judged_attack(0.3, 0.3, 0.001, 0).word == "no threshold is known"
    assert judged_attack(0.5, 0.5, 0.5, 5).colour == "red", "chance alone finds half: no k helps"
    known = {name for name in audits() if judged(name, 0.0).colour}
    assert known == THRESHOLDS.keys(), "a threshold is of an audit, and all others say that none is known"
