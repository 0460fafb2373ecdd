"""`Release.plot`: the columns before and after, of k records or more for each bar."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import sqlmicro as sm
from sqlmicro.errors import InputError, ParameterError


def people(rows: int = 120) -> pa.Table:
    return pa.table({
        "age": [20 + i % 50 for i in range(rows)],
        'net "income"': [1000.0 + 7 * i for i in range(rows)],
        "town": ["Ur" if i == 5 else "ABC"[i % 3] for i in range(rows)],
    })  # fmt: skip


def shares(svg: str) -> dict[str, tuple[float, float]]:
    """Return the shares before and after of every bar, by its label, from the lengths that are drawn."""
    ticks = re.findall(r'text-anchor="middle">([0-9.]+) %<', svg)
    places = [float(x) for x in re.findall(r'<text class="tick" x="([0-9.]+)"[^>]*text-anchor="middle"', svg)]
    scale = (float(ticks[-1]) - float(ticks[0])) / (places[-1] - places[0])
    labels = re.findall(r'text-anchor="end">([^<]+)<', svg)
    lengths = [
        [
            float(x)
            for x in re.findall(rf'<rect class="{side}" x="[^"]+" y="[^"]+" width="([0-9.]+)" height="(?!12"|6")', svg)
        ]
        for side in ("before", "after")
    ]
    return {
        name: (b * scale, a * scale)
        for name, b, a in zip(labels, *(side[-len(labels) :] for side in lengths), strict=True)
    }


def test_bars_are_shares_of_the_records_before_and_after() -> None:
    with sm.mdav(people(), columns=["age", 'net "income"', "town"], k=4, seed="1") as release:
        after = release.arrow().column("town").to_pylist()
        drawn = shares(release.plot("town").svgs["town"])
    before = people().column("town").to_pylist()
    assert set(drawn) <= {"A", "B", "C", "all others"}
    assert "Ur" not in drawn, "fewer than k records have it"
    for town in drawn.keys() - {"all others"}:
        counts = [100 * values.count(town) / sum(v != "Ur" for v in values) for values in (before, after)]
        assert drawn[town] == pytest.approx(counts, abs=1.5)


def test_no_bar_is_of_fewer_than_k_records() -> None:
    """A column that is released as it is has its rare values before and after; the picture has them with others."""
    columns = ["age", 'net "income"']
    with sm.mdav(people(), columns=columns, keep=["town"], accept_unique=["town"], k=4, seed="1") as release:
        assert release.arrow().column("town").to_pylist().count("Ur") == 1
        assert "Ur" not in release.plot("town").svgs["town"]


def test_pictures_are_of_the_columns_asked_for_and_stand_alone(tmp_path: Path) -> None:
    with sm.mdav(people(), columns=["age", 'net "income"'], drop=["town"], k=4, seed="1") as release:
        pictures = release.plot()
        assert list(pictures.svgs) == ["age", 'net "income"']
        files = pictures.save(tmp_path / "plots")
        assert [file.read_text(encoding="utf-8") for file in files] == list(pictures.svgs.values())
        assert all("<style>" in svg and "--after" in svg for svg in pictures.svgs.values())
        assert "net &quot;income&quot;" in pictures._repr_html_()
        with pytest.raises(InputError, match="plot"):
            pictures.save(tmp_path / "plots")
        with pytest.raises(ParameterError, match="plot"):
            release.plot("no such column")
    with pytest.raises(InputError, match="closed"):
        release.plot()
