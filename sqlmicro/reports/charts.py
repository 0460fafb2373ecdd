"""Charts as SVG, made from templates; colours come from the page, so that they follow light, dark and print.

Why templates and no chart library: four shapes are needed, and a library that draws them brings ten megabytes or more,
or JavaScript, and text that neither a screen reader nor the page's colours reach.

What is drawn in a chart: bars, correlations, and points of an R-U map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import east_asian_width

from sqlmicro.reports.language import ENGLISH, Language, plain
from sqlmicro.system.printable import shown
from sqlmicro.system.sentences import Said, say

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Bar:
    """A bar, and behind it the one before; None where there is none."""

    label: str
    before: float | None
    after: float


@dataclass(frozen=True)
class Correlation:
    """The correlation of a pair of columns."""

    pair: str
    before: float
    after: float


@dataclass(frozen=True)
class Point:
    """A release, or a candidate for one, on an R-U map."""

    label: str
    risk: float
    loss: float
    command: str = ""
    """What made it."""
    chosen: bool = False
    front: bool = False
    """Whether no other point has less risk and no more loss, or less loss and no more risk."""


def pareto(points: Sequence[Point]) -> list[Point]:
    """Return the points with `front` found.

    >>> [p.front for p in pareto([Point("a", 1, 1), Point("b", 0, 2), Point("c", 1, 2)])]
    [True, True, False]
    """

    def better(other: Point, point: Point) -> bool:
        mine, theirs = (point.risk, point.loss), (other.risk, other.loss)
        return mine != theirs and theirs[0] <= mine[0] and theirs[1] <= mine[1]

    return [replace(point, front=not any(better(other, point) for other in points)) for point in points]


WIDTH = 420
_LABELS = 132
_RIGHT = 24
_CHARACTER = 7.0
_LONGEST = 16
_MAP_HEIGHT = 340
_FAR_APART = 200
_LONG_WORD = 24
"""A word that is broken anywhere on paper, where no table can be scrolled."""


@cache
def environment(language: Language = ENGLISH) -> Any:
    """Return the Jinja environment of the page and its charts: texts are said in a language, and escaped."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=lambda value: _shown(value, language),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"say": say, "language": language}
    made.filters["css"] = _in_css
    made.tests["long"] = lambda text: any(len(word) > _LONG_WORD for word in text.split())
    return made


def _in_css(text: str) -> str:
    r"""Return a text as it stands in a string of CSS: whatever is no letter or digit is written as an escape.

    >>> print(_in_css('a"b'))
    a\22 b
    """
    plain = (char if char.isascii() and char.isalnum() else f"\\{ord(char):x} " for char in shown(text))
    return "".join(plain)


def _shown(value: object, language: Language) -> object:
    """Return a text in a language, with escapes in place of what a browser would act on."""
    if isinstance(value, Said) or type(value) is str:  # and not what is marked up already
        return shown(language.told(value), keep="\n")
    return value


def _draw(template: str, language: Language, **params: Any) -> Markup:
    from markupsafe import Markup

    return Markup(environment(language).get_template(template).render(width=WIDTH, **params))


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return text that fits beside a bar; a Chinese character takes the place of two others.

    >>> shortened("a long name of a column"), shortened("age"), shortened("東京都千代田区丸の内")
    ('a long name of …', 'age', '東京都千代田区…')
    """
    widths = [2 if east_asian_width(character) in "WF" else 1 for character in text]
    if sum(widths) <= most:
        return text
    fits = sum(total < most for total in accumulate(widths))
    return text[:fits] + "…"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from at most `low` to at least `high`.

    >>> ticks(0, 0.83), ticks(0, 0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    if high <= low:
        high = low + 1
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    digits = max(0, -floor(log10(step)))
    return [round(i * step, digits) for i in range(floor(low / step), ceil(high / step - 1e-9) + 1)]


def bars(
    key: str,
    title: str,
    rows: Sequence[Bar],
    language: Language = ENGLISH,
    *,
    warned: int = 0,
    unit: str = say("share of the records"),
    percent: bool = True,
    both: tuple[str, str] = (say("before"), say("after")),
    standalone: bool = False,
) -> Markup:
    """Return horizontal bars: `after`, and behind it `before` where a row has it; `label` at the left.

    Parameters
    ----------
    key : str
        Unique on the page; the ids of title and description begin with it.
    title : str
        What the chart shows.
    rows : sequence of Bar
        From top to bottom.
    language : Language
        What the words of the chart are said in.
    warned : int
        So many rows from the top are drawn as a warning.
    unit : str
        Of the axis.
    percent : bool
        Whether values are shares, shown in percent.
    both : (str, str)
        What the two bars of a row are called.
    standalone : bool
        Whether it is a picture of its own, with its colours in it.
    """
    two = any(row.before is not None for row in rows)
    top, height = (34 if two else 10), (26 if two else 20)
    marks = ticks(0, max([1e-12, *(max(row.before or 0, row.after) for row in rows)]), 4)
    room = WIDTH - _LABELS - _RIGHT

    def long(value: float) -> float:
        return round(room * value / marks[-1], 2)

    drawn = [
        {
            "label": shortened(language.told(row.label)),
            "y": top + i * height,
            "before": None if row.before is None else long(row.before),
            "after": long(row.after),
            "below": i < warned,
        }
        for i, row in enumerate(rows)
    ]
    words = (
        say("{n:,} bars, {before} and {after}; the table beside the chart has the figures",
            n=len(rows), before=both[0], after=both[1])
        if two
        else say("{n:,} bars; the table beside the chart has the figures", n=len(rows))
    )  # fmt: skip
    return _draw(
        "bars.svg.jinja",
        language,
        key=key,
        title=title,
        words=words,
        rows=drawn,
        two=two,
        names=both,
        second=_LABELS + 48 + _CHARACTER * len(language.told(both[0])),
        left=_LABELS,
        row_height=height,
        bottom=top + len(rows) * height + 4,
        top=top,
        unit=unit,
        ticks=[
            (_LABELS + long(mark), say("{x} %", x=plain(round(100 * mark, 9))) if percent else plain(mark))
            for mark in marks
        ],
        standalone=standalone,
    )


def pairs(key: str, title: str, rows: Sequence[Correlation], language: Language = ENGLISH) -> Markup:
    """Return correlations: a ring for before and a dot for after on an axis from -1 to 1, a line between them."""
    top, height = 34, 22
    room, left = WIDTH - _LABELS - _RIGHT, _LABELS

    def place(value: float) -> float:
        return round(_LABELS + room * (value + 1) / 2, 2)

    return _draw(
        "pairs.svg.jinja",
        language,
        key=key,
        title=title,
        words=say("{n:,} pairs of columns; the table beside the chart has the figures", n=len(rows)),
        second=left + 48 + _CHARACTER * len(language.told(say("before"))),
        rows=[
            {
                "label": shortened(row.pair),
                "y": top + i * height + height / 2,
                "before": place(row.before),
                "after": place(row.after),
            }
            for i, row in enumerate(rows)
        ],
        left=left,
        top=top,
        bottom=top + len(rows) * height + 4,
        ticks=[(place(value), plain(value)) for value in (-1, -0.5, 0, 0.5, 1)],
    )


def ru_map(
    points: Sequence[Point],
    language: Language = ENGLISH,
    *,
    key: str = "ru-map",
    title: str = say("Risk and loss of each candidate"),
    risk: str = say("risk"),
    loss: str = say("information loss"),
    standalone: bool = False,
) -> Markup:
    """Return an R-U confidentiality map: a point per candidate, loss to the right, risk upward, the Pareto front drawn.

    Parameters
    ----------
    points : sequence of Point
        The front is found here; a ring is drawn around what was chosen. What has no finite risk or loss is left out.
    language : Language
        What the words of the map are said in.
    key : str
        Unique on the page.
    title, risk, loss : str
        What the chart and its axes are called.
    standalone : bool
        Whether it is a file of its own, which then has its own colours, light and dark.

    Returns
    -------
    Markup
        The SVG. A label stands where it covers no other label and no point; where there is no such place the point has
        a number, and the number stands before its label below the axis.

    Notes
    -----
    Source: Duncan, Keller-McNulty & Stokes (2001). O(n²) for the front and for the labels.
    """
    known = pareto([p for p in points if isfinite(p.risk) and isfinite(p.loss)])
    left, top, right, bottom = 58.0, 30.0, WIDTH - 16.0, float(_MAP_HEIGHT - 46)
    across, upward = _axis([p.loss for p in known]), _axis([p.risk for p in known])

    def place(point: Point) -> tuple[float, float]:
        x, y = across.share(point.loss), upward.share(point.risk)
        return round(left + (right - left) * x, 2), round(bottom - (bottom - top) * y, 2)

    places = [place(point) for point in known]
    texts = _labels([point.label for point in known], places, (left, top, right, bottom))
    dots = [
        {"x": x, "y": y, "front": point.front, "chosen": point.chosen, "label": point.label}
        for point, (x, y) in zip(known, places, strict=True)
    ]
    front = sorted({place(point) for point in known if point.front})
    below = [f"{text['text']}: {shortened(point.label, 56)}" for text, point in zip(texts, known, strict=True)
             if text["numbered"]]  # fmt: skip
    return _draw(
        "ru_map.svg.jinja",
        language,
        key=key,
        title=title,
        words=say("{n:,} candidates, {front:,} of them on the Pareto front, a ring around the chosen one",
                  n=len(known), front=sum(p.front for p in known)),
        dots=dots,
        texts=texts,
        front=" ".join(f"{x},{y}" for x, y in _stairs(front)),
        below=[(_MAP_HEIGHT + 12 + 15 * i, line) for i, line in enumerate(below)],
        height=_MAP_HEIGHT + (8 + 15 * len(below) if below else 0),
        frame=(left, top, right, bottom),
        across=[(round(left + (right - left) * across.share(v), 2), plain(v)) for v in across.ticks],
        upward=[(round(bottom - (bottom - top) * upward.share(v), 2), plain(v)) for v in upward.ticks],
        risk=say("{axis}, logarithmic", axis=risk) if upward.logarithmic else risk,
        loss=say("{axis}, logarithmic", axis=loss) if across.logarithmic else loss,
        standalone=standalone,
    )  # fmt: skip


class _Axis(NamedTuple):
    """An axis: its ticks, and whether it is logarithmic."""

    ticks: list[float]
    logarithmic: bool

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.logarithmic:
            return log10(value / low) / log10(high / low)
        return (value - low) / (high - low)


def _axis(values: Sequence[float]) -> _Axis:
    """Return an axis from 0, or a logarithmic one where the values are further apart than that could show."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if 0 < low * _FAR_APART < high:
        return _Axis([10.0**i for i in range(floor(log10(low)), ceil(log10(high) - 1e-9) + 1)], True)
    return _Axis(ticks(0, high), False)


def _stairs(front: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the line through the front: what lies above it and to its right is worse than some point of it."""
    line: list[tuple[float, float]] = []
    for x, y in front:
        if line:
            line.append((x, line[-1][1]))
        line.append((x, y))
    return line


_Box = tuple[float, float, float, float]
_STEPS = 6


def _labels(names: Sequence[str], places: Sequence[tuple[float, float]], frame: _Box) -> list[dict[str, Any]]:
    """Return a place for every label: the nearest to its point that covers no label, point or border; else a number."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    texts = []
    for place, (name, (x, y)) in enumerate(zip(names, places, strict=True), 1):
        text, numbered = shortened(name, 24), False
        box = _free(text, x, y, taken, frame)
        if box is None:
            text, numbered = str(place), True
            box = _free(text, x, y, taken, frame) or (x + 7, y - 7, x + 7 + _CHARACTER * len(text), y + 5)
        taken.append(box)
        # A line leads from a point to a label that does not touch it.
        end = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
        far = abs(end[0] - x) + abs(end[1] - y) > 14
        texts.append(
            {
                "x": round(box[0], 2),
                "y": round(box[3] - 3, 2),
                "text": text,
                "numbered": numbered,
                "lead": (x, y, round(end[0], 2), round(end[1], 2)) if far else None,
            }
        )
    return texts


def _free(text: str, x: float, y: float, taken: Sequence[_Box], frame: _Box) -> _Box | None:
    wide, high = _CHARACTER * len(text), 13.0
    for step in range(_STEPS):
        away = 13.0 * step
        # The front runs from a point to the right and comes to it from above: beside and above it is room.
        for dx, dy in (
            (8 + away / 2, -19 - away), (8 + away, -6), (-8 - wide - away / 2, 6 + away), (-8 - wide - away, -6),
            (8 + away / 2, 6 + away), (-wide / 2, 9 + away), (-wide / 2, -21 - away),
            (-8 - wide - away / 2, -19 - away),
        ):  # fmt: skip
            box = (x + dx, y + dy, x + dx + wide, y + dy + high)
            inside = box[0] > frame[0] and box[1] > frame[1] - 9 and box[2] < frame[2] + 14 and box[3] < frame[3]
            if inside and not any(_overlap(box, other) for other in taken):
                return box
    return None


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
