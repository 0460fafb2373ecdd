"""A recoding read and applied in plain Python, record by record: the oracle of `apply-recoding`."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[Any, ...]
_EPOCH = datetime.date(1970, 1, 1)


def released(
    told: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], k: int, trees: Mapping[str, Any]
) -> Counter[Row]:
    """Return the rows that are released, strata last: known to the recoding, and k in their class."""
    whole = {one["name"] for one in told["columns"] if _are_whole([row[one["name"]] for row in rows])}
    if told["method"] in ("top-code", "bottom-code"):
        named = {one["name"] for one in told["columns"] if one["becomes"].startswith("DECIMAL")}  # as 4.5
        return _coded(told, rows, k, whole - named)
    columns, by = told["columns"], [one["name"] for one in told["by"]]
    found = []
    for row in rows:
        stratum = tuple(row[name] for name in by)
        if "boxes" in told:
            new = _in_box(told["boxes"], columns, row, stratum)
        elif "classes" in told:
            new = _in_class(told["classes"], columns, row, stratum, trees)
        else:
            new = [_at(column, row[column["name"]], len(column["levels"]), trees) for column in columns]
        if new is not None and all(one is not UNKNOWN for one in new):
            found.append((*_kept_whole(new, columns, whole), *stratum))
    return Counter({row: n for row, n in Counter(found).items() if n >= k})


UNKNOWN = object()


def _are_whole(values: Sequence[Any]) -> bool:
    """Tell whether a column holds whole numbers only; it is released with whole numbers then."""
    numbers = [value for value in values if value is not None]
    return all(type(value) in (int, float) and value == int(value) for value in numbers)


def _kept_whole(values: Sequence[Any], columns: Any, whole: set[str]) -> list[Any]:
    """Round the numbers of columns of whole numbers, halves to even ones."""
    return [
        float(round(value)) if column["name"] in whole and type(value) is float else value
        for value, column in zip(values, columns, strict=True)
    ]


def _at(column: Mapping[str, Any], value: Any, level: int, trees: Mapping[str, Any]) -> Any:
    if level == 0:
        return value
    one = column["levels"][level - 1]
    kind = one["kind"]
    if kind == "one-class":
        return None if column["numeric"] else "*"
    if kind == "hierarchy":
        rows = [list(row) for row in trees[column["name"]]]
        if one["top"] and len({row[-1] for row in rows}) > 1:
            rows = [[*row, "*"] for row in rows]
        if value is None:
            return rows[0][-1] if one["top"] and one["step"] == len(rows[0]) - 1 else None
        return next((row[one["step"]] for row in rows if row[0] == _text(value)), UNKNOWN)
    if value is None:
        return None
    if kind == "prefix":
        text = _text(value)
        return text[: one["length"]] + "*" * max(0, len(text) - one["length"])
    if kind == "truncate":
        return value.replace(day=1, month=value.month if one["unit"] == "month" else 1)
    number = float((value - _EPOCH).days if isinstance(value, datetime.date) else value)
    if kind == "width":
        place = math.floor(number / one["width"])
        ends: Any = (round(place * one["width"], 9), round((place + 1) * one["width"], 9))
    elif kind == "breaks":
        low = [end for end in one["breaks"] if end <= number]
        high = [end for end in one["breaks"] if end > number]
        ends = (max(low, default=None), min(high, default=None))
    else:
        ends = next((e for e in one["bins"] if (e[0] is None or e[0] <= number) and (e[1] is None or number < e[1])), 0)
        if ends == 0:
            return UNKNOWN
    return _middle(*ends) if column["numeric"] else _bin(*ends, date=isinstance(value, datetime.date))


def _middle(low: float | None, high: float | None) -> float | None:
    ends = [end for end in (low, high) if end is not None]
    return sum(ends) / len(ends) if ends else None


def _bin(low: float | None, high: float | None, *, date: bool) -> str:
    def end(number: float) -> str:
        return str(_EPOCH + datetime.timedelta(number)) if date else str(float(number)).removesuffix(".0")

    if low is None and high is None:
        return "*"
    if low is None:
        return f"< {end(high)}"
    return f">= {end(low)}" if high is None else f"[{end(low)}, {end(high)})"


def _text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _like(value: Any, text: str) -> Any:
    """Read a text as what a value is."""
    return datetime.date.fromisoformat(text) if isinstance(value, datetime.date) else type(value)(text)


def _in_box(boxes: Any, columns: Any, row: Mapping[str, Any], stratum: Row) -> list[str | None] | None:
    for box in boxes:
        if tuple(box["stratum"]) != stratum:
            continue
        new: list[str | None] = []
        for column, side in zip(columns, box["sides"], strict=True):
            value, texts = row[column["name"]], side["values"]
            if value is None:
                inside = side["missing"]
            elif texts is not None:
                inside = _text(value) in texts
            else:
                inside = side["low"] is not None and _like(value, side["low"]) <= value <= _like(value, side["high"])
            if not inside:
                break
            if texts is None:
                low, high = side["low"], side["high"]
                text = None if low is None else low if low == high else f"[{low}, {high}]"
            else:
                text = None if not texts else texts[0] if len(texts) == 1 else "{" + ", ".join(sorted(texts)) + "}"
            new.append(text and text + (" or missing" if side["missing"] else ""))
        else:
            return new
    return None


def _in_class(classes: Any, columns: Any, row: Mapping[str, Any], stratum: Row, trees: Any) -> list[Any] | None:
    for one in classes:
        if tuple(one["stratum"]) != stratum:
            continue
        fits, new = True, []
        for column, level, text in zip(columns, one["levels"], one["values"], strict=True):
            value = _at(column, row[column["name"]], level, trees)
            if value is UNKNOWN:
                return None
            fits = fits and _is(value, text, number=column["numeric"], text=bool(column["levels"]))
            plain = value is None or column["numeric"] or not column["levels"]
            new.append(value if plain else _text(value))
            if column["numeric"] and value is not None and not isinstance(value, datetime.date):
                new[-1] = float(value)
        if fits:
            return new
    return None


def _is(value: Any, said: str | None, *, number: bool, text: bool) -> bool:
    """Tell whether a value is what a class says; dates are days where they stay dates."""
    if value is None or said is None:
        return value is said
    if isinstance(value, datetime.date) and (number or not text):
        return float(said) == (value - _EPOCH).days
    return float(said) == float(value) if number else said == _text(value)


def _coded(told: Any, rows: Any, k: int, whole: set[str]) -> Counter[Row]:
    top, by = told["method"] == "top-code", [one["name"] for one in told["by"]]
    new: list[list[Any]] = [[] for _ in rows]
    tails: list[list[Any]] = [[] for _ in rows]
    for column in told["columns"]:
        known = {tuple(tail["stratum"]): tail for tail in column["tails"]}
        for i, row in enumerate(rows):
            value, stratum = row[column["name"]], tuple(row[name] for name in by)
            tail = known.get(stratum)
            inside = value is not None and tail is not None and _in_tail(tail, float(value), top)
            becomes = tail["becomes"] if tail is not None else None
            lost = tail is None or (inside and becomes is None)
            shown = becomes if inside else value
            if shown is not None and not lost:
                shown = str(shown) if column["becomes"] == "VARCHAR" else float(shown)
            new[i].append(UNKNOWN if lost else shown)
            tails[i].append((column["name"], stratum) if inside and not lost else None)
    sizes = Counter(one for own in tails for one in own if one)
    return Counter(
        (*_kept_whole(values, told["columns"], whole), *(row[name] for name in by))
        for row, values, own in zip(rows, new, tails, strict=True)
        if UNKNOWN not in values and all(one is None or sizes[one] >= k for one in own)
    )


def _in_tail(tail: Any, value: float, top: bool) -> bool:
    if tail["start"] is not None:
        return value >= float(tail["start"]) if top else value <= float(tail["start"])
    if tail["beyond"] is not None:
        return value > float(tail["beyond"]) if top else value < float(tail["beyond"])
    return True
