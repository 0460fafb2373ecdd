"""The SQL templates: where they are, and how names and values get into them.

Nothing reaches a statement but through `ident` (a name), `idents` (a list of names) and `lit` (a value), through the
filters of repeated idioms that are made of these (`listed`, `same`, `draw`, `drawn_of`, `combination`), or as a whole
number; Jinja's `finalize` refuses everything else, `StrictUndefined` a missing parameter, `render` an unknown one.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sqlmicro.errors import TemplateError
from sqlmicro.registry import late

# What may hold a blank line of its own (a comment, a name, a text) is taken first, and stays.
_BLANK_LINE = re.compile(r"""(--[^\n]*|"(?:[^"]|"")*"|'(?:[^']|'')*')|\n[ \t]*(?=\n)""")
_HOLE = re.compile(r"\{(name|n|[0-9]*)\}")
_OWN_NAME = re.compile(r"[a-z][a-z0-9_]*")
# A pattern is SQL as it stands, so that it has to stand in the template: it is never a parameter.
_PATTERN_FROM_ELSEWHERE = re.compile(r"""\|\s*listed\b(?!\("[^"]*"\))|{%[-+]?\s*filter\b""")
HEADER = ("title", "source", "reads", "returns", "params")
OPTIONAL = ("order",)
"""The header lines of a template, and the one of those whose result is read by position: how its records are stored."""


class Name(NamedTuple):
    """A qualified relation: catalog, schema and table; empty parts are left out.

    >>> print(Name("", "main", "persons"))
    main.persons
    """

    catalog: str
    schema: str
    table: str

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


class Sql(str):
    """Text that is SQL already; made only here and by the warehouse from rendered templates."""


Params: TypeAlias = dict[str, Any]
"""Parameters of a template by their names: relations, columns, values. The guard of rendering checks them."""


@dataclass(frozen=True)
class Select:
    """A template and its parameters, which another one reads in place of a relation."""

    template: str
    params: Mapping[str, object]


def ident(name: object) -> Sql:
    """Quote one identifier, or the parts of a `Name`: the only quoting function there is. A `Select` is in brackets.

    >>> ident('5" disk')
    '"5"" disk"'
    >>> ident(Name("", "main", "persons"))
    '"main"."persons"'
    """
    if isinstance(name, Name):
        return Sql(".".join(ident(part) for part in name if part))
    if isinstance(name, Select):
        return Sql(f"(\n{render(name.template, **name.params)})")
    text = name if isinstance(name, str) else getattr(name, "staged", None)
    if not isinstance(text, str) or not text:
        raise TemplateError("ident", "must be a name", type(name).__name__)
    if "\0" in text:
        raise TemplateError("ident", "a name cannot contain a NUL character")
    return Sql('"' + text.replace('"', '""') + '"')


def idents(names: Iterable[object]) -> Sql:
    """Quote identifiers and join them with commas.

    >>> idents(["a", "b"])
    '"a", "b"'
    """
    return Sql(", ".join(ident(name) for name in names))


def lit(value: object) -> Sql:
    """Write a value as a SQL literal.

    >>> lit("it's"), lit(None), lit(0.5), lit(True), lit(["a", "b"])
    ("'it''s'", 'NULL', '0.5', 'true', "['a', 'b']")
    """
    if value is None:
        return Sql("NULL")
    if isinstance(value, bool):
        return Sql("true" if value else "false")
    if isinstance(value, (int, Decimal)):
        return Sql(str(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TemplateError("lit", "a number must be finite")
        return Sql(repr(value))
    if isinstance(value, str):
        if "\0" in value:
            raise TemplateError("lit", "text cannot contain a NUL character")
        return Sql("'" + value.replace("'", "''") + "'")
    if isinstance(value, (list, tuple)):
        return Sql("[" + ", ".join(lit(item) for item in value) + "]")
    raise TemplateError("lit", "must be a number, text, true/false, NULL or a list of these", type(value).__name__)


def sqltype(kind: object) -> Sql:
    """Write a column's type as the database itself spelled it; a `Column` stands for its type."""
    return Sql(kind if isinstance(kind, str) else getattr(kind, "type"))  # noqa: B009


def comment(text: str) -> Sql:
    """Write text into a SQL comment: one line, printable."""
    return Sql("".join(char if char.isprintable() else " " for char in text))


def listed(items: Iterable[object], pattern: str) -> Sql:
    """Write a pattern once for every column, with commas between, unless the pattern begins or ends with its own.

    In the pattern `{}` is the name of the column in staging (of a list of columns: their names), `{name}` its own name,
    `{1}` and `{2}` are the parts of a pair, and `{n}` is the number of the column, from 1.

    >>> print(listed(["a", "b"], "t.{} AS {}_{n}"))
    t."a" AS "a"_1, t."b" AS "b"_2
    >>> print(listed(["a", "b"], "t.{}, ") + "row_id")
    t."a", t."b", row_id
    >>> print(listed([("a", "x"), ("b", "y")], "{1} = {2}"))
    "a" = "x", "b" = "y"
    """
    bare = pattern.strip()
    between = "" if bare.startswith(",") or bare.endswith(",") else "," if pattern.startswith("\n") else ", "
    return Sql(between.join(_filled(pattern, item, number) for number, item in enumerate(items, 1)))


def _filled(pattern: str, item: Any, number: int) -> str:
    def fill(hole: re.Match[str]) -> str:
        if hole[1] == "n":
            return str(number)
        if hole[1] == "name":
            return ident(item.name)
        several = isinstance(item, (list, tuple)) and not isinstance(item, Name)
        if hole[1]:
            return ident(item[int(hole[1]) - 1])
        return idents(item) if several else ident(item)

    return _HOLE.sub(fill, pattern)


def same(columns: Iterable[object], left: str, right: str) -> Sql:
    """Write that two records agree in all columns: each has equal values, or is missing in both.

    >>> print(same(["a", "b"], "s", "t"))
    s."a" IS NOT DISTINCT FROM t."a" AND s."b" IS NOT DISTINCT FROM t."b"
    >>> print(same([], "s", "t"))
    true
    """
    left, right = _own(left), _own(right)
    terms = [f"{left}.{ident(column)} IS NOT DISTINCT FROM {right}.{ident(column)}" for column in columns]
    return Sql(" AND ".join(terms) or "true")


def draw(stream: str, name: str = "", columns: Iterable[object] | None = None, *, purpose: str = "") -> Sql:
    """Write a keyed draw: a hash that nobody can repeat without the key in the session's variable `stream`.

    It is drawn for the column `name` of staging; where `columns` are given, for it and the values of these. `purpose`
    tells draws of one key apart.

    >>> print(draw("order", "row_id"))
    sha256(concat(getvariable('order'), ' ', row_id))
    >>> print(draw("order", "row_id", purpose="preview"))
    sha256(concat(getvariable('order'), ' preview ', row_id))
    >>> print(draw("noise", "record", ["a"]))
    sha256(concat(getvariable('noise'), ' ', hash(getvariable('noise'), record, "a")))
    """
    key = f"getvariable({lit(stream)})"
    drawn_for = _own(name) if name else ""
    if columns is not None:
        drawn_for = f"hash({', '.join([key, drawn_for, *map(ident, columns)])})"
    between = f" {_own(purpose)}" if purpose else ""
    parts = [key, lit(f"{between} "), drawn_for] if drawn_for else [key, lit(between)]
    return Sql(f"sha256(concat({', '.join(parts)}))")


def drawn_of(stream: str, name: str, columns: Sequence[object]) -> Sql:
    """Write a keyed number of 60 bits for the column `name` of staging and the values of `columns`; 0 of none.

    >>> drawn_of("s", "r", ["a"]) == f"CAST(concat('0x', substr({draw('s', 'r', ['a'])}, 1, 15)) AS BIGINT)"
    True
    >>> print(drawn_of("order", "record", []))
    0
    """
    if not columns:
        return Sql("0")
    return Sql(f"CAST(concat('0x', substr({draw(stream, name, columns)}, 1, 15)) AS BIGINT)")


def combination(kinds: Mapping[str, Iterable[Any]], last: int | None = None) -> Sql:
    """Write a whole number that tells a combination of values from others, as the output tells them apart.

    `kinds` are columns by how they are hashed: see `content.by_kind`. `last` tells combinations of several kinds apart.

    >>> print(combination({"plain": ["a"], "floats": ["b"], "nested": [], "texts": ["c"]}))
    CAST(hash("a", "b", signbit("b"), CAST("c" AS VARCHAR), true) >> 1 AS BIGINT)
    """
    parts: list[str] = [ident(column) for column in kinds["plain"]]
    parts += [f"{ident(column)}, signbit({ident(column)})" for column in kinds["floats"]]
    parts += [f"CAST(CAST({ident(column)} AS {sqltype(column.bits)}) AS VARCHAR)" for column in kinds["nested"]]
    parts += [f"CAST({ident(column)} AS VARCHAR)" for column in kinds["texts"]]
    return Sql(f"CAST(hash({', '.join([*parts, lit(True if last is None else last)])}) >> 1 AS BIGINT)")


def between(loop: Any, union: str) -> Sql:
    """Write UNION or UNION ALL between the SELECTs of a loop: nothing behind the last one."""
    if union not in ("UNION", "UNION ALL"):
        raise TemplateError("template", "only UNION and UNION ALL stand between SELECTs", type(union).__name__)
    return Sql("" if loop.last else union)


def _own(name: object) -> str:
    if isinstance(name, str) and _OWN_NAME.fullmatch(name):
        return name
    raise TemplateError("template", "a name of our own must be a small word", type(name).__name__)


def _finalize(value: Any) -> Any:
    if isinstance(value, Sql) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TemplateError("template", "only what a filter wrote and whole numbers may be printed", type(value).__name__)


_FILTERS = (ident, idents, lit, sqltype, comment, listed, same, draw, drawn_of, combination, between)


@cache
def root() -> Path:
    """Return the folder of the templates: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent.parent
    return package / "sql" if (package / "sql").is_dir() else package.parent / "sql"


@cache
def text_of(template: str) -> str:
    """Return the text of a template: `stage/name.sql` is ours, `package:stage/name.sql` in the folder sql of a plug-in.

    Raises
    ------
    TemplateError
        When there is no such file.
    """
    package, colon, name = template.rpartition(":")
    folder = root()
    if colon:
        found = importlib.util.find_spec(package)
        folder = Path(found.origin or "").parent / "sql" if found else Path()
    try:
        return (folder / name).read_text(encoding="utf-8")
    except OSError:
        raise TemplateError(template, "must be a template", "none") from None


@cache
def environment() -> Any:
    """Return the Jinja environment all templates are rendered in."""
    import jinja2

    env = jinja2.Environment(
        bytecode_cache=late("sqlmicro.system.template_cache", "TemplateCache")(root(), Path(__file__)),
        loader=jinja2.FunctionLoader(lambda name: _with_own_patterns(name, text_of(name))),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    env.filters.update({write.__name__: write for write in _FILTERS})
    return env


def _with_own_patterns(template: str, text: str) -> str:
    if _PATTERN_FROM_ELSEWHERE.search(text):
        raise TemplateError(template, 'a pattern of listed must stand in the template: listed("...")')
    return text


@cache
def header(template: str) -> dict[str, str]:
    """Return the header lines of a template as a dictionary; `order` only where it has one."""
    found: dict[str, str] = {}
    key = ""
    for line in text_of(template).splitlines():
        if not line.startswith("--"):
            break
        text = line.removeprefix("--").strip()
        word, colon, rest = text.partition(":")
        if colon and word in (*HEADER, *OPTIONAL):
            key, text = word, rest.strip()
            found[key] = text
        else:
            found[key] += " " + text
    return found


def is_ordered(template: str) -> bool:
    """Tell whether the order in which the records of a template are stored means something."""
    return "order" in header(template)


@cache
def declared_params(template: str) -> frozenset[str]:
    """Return the names in the header's `params:` line; what stands in parentheses explains them."""
    text = re.sub(r"\([^)]*\)", "", header(template).get("params", ""))
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def render(template: str, **params: object) -> Sql:
    """Return the SELECT of `template`, header included, with its parameters filled in.

    Raises
    ------
    TemplateError
        For an unknown or missing parameter, or one that is printed as it is.
    """
    import jinja2

    declared = declared_params(template)
    unknown, missing = params.keys() - declared, declared - params.keys()
    if unknown or missing:
        raise TemplateError(
            template,
            f"parameters must be {', '.join(sorted(declared)) or 'none'}",
            f"unknown {sorted(unknown)}, missing {sorted(missing)}",
        )
    try:
        text = environment().get_template(template).render(**params)
    except jinja2.TemplateError as error:
        raise TemplateError(template, "must render", str(error)) from None
    return Sql(_BLANK_LINE.sub(lambda found: found[1] or "", text).strip("\n"))


def select(template: str, **params: object) -> Select:
    """Return a template with its parameters, for another one to read in place of a relation.

    >>> print(ident(select("load/records.sql", relation=Name("", "main", "persons"))).splitlines()[-1])
    FROM "main"."persons")
    """
    return Select(template, params)


def statement(text: str, **params: object) -> Sql:
    """Return a statement that is no SELECT (CREATE, COPY, SET, …) with its parameters filled in."""
    import jinja2

    if "{" not in text:
        return Sql(text.strip())
    try:
        return Sql(_parsed(text).render(**params).strip())
    except jinja2.TemplateError as error:
        raise TemplateError("statement", "must render", str(error)) from None


@lru_cache(maxsize=256)
def _parsed(text: str) -> Any:
    return environment().from_string(_with_own_patterns("statement", text))


def all_templates() -> list[str]:
    """Return every template as `stage/name.sql`; the macros are no templates, their arguments are DuckDB's."""
    found = sorted(path.relative_to(root()).as_posix() for path in root().rglob("*.sql"))
    return [name for name in found if not name.startswith("macros/")]
