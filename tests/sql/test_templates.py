"""Tests that hold for every SQL template: rows, header, golden, index, names of columns, and what may be printed."""

from __future__ import annotations

import os
import random
import re
from itertools import combinations, count, product
from pathlib import Path

import duckdb
import jinja2.meta
import numpy as np
import pytest
from databases import insert
from looping import each

from sqlmicro.database import templates
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.connection import Held
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import TemplateError
from sqlmicro.mask.pseudonymise import pads

from . import cases_group
from .case import KEY, Case, col, rel
from .conformance import CASES, NUMBERED, Bench, bind, prepare, rows_of, same_rows

TEMPLATES = templates.all_templates()
GOLDEN = Path(__file__).parent / "golden"
"""The compiled SQL of a few templates, for review: they show what the filters and loops write."""
REVIEWED = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.sql"))
FIRST_CASE = {case.template: case for case in reversed(CASES)}
NAMED_AS_IN_THE_SOURCE = {
    "audit/records.sql", "audit/ambiguous_floats.sql",
    "audit/values.sql", "load/row_key_faults.sql", "load/typed.sql", "load/column_profile.sql", "attack/staged.sql",
    "publish/content.sql", "audit/missing_rates.sql", "load/distinct_estimates.sql", "load/sampled_values.sql",
    "load/codes_for_missing.sql", "load/words_for_missing.sql",
    "load/dependent_columns.sql", "attack/held_out.sql", "attack/with_control.sql", "attack/in_both.sql",
    "history/asked_rows.sql", "history/listed_keys.sql", "history/rows_of_keys.sql", "load/rare_values.sql",
}  # fmt: skip
"""Templates that read a relation of the user's, where columns have their own names."""


STAGES = sorted({template.partition("/")[0] for template in TEMPLATES})


def of_stage(stage):
    """Return the cases of the templates in a folder, with their names."""
    return [(name, case) for name, case in NUMBERED if case.template.startswith(f"{stage}/")]


@pytest.fixture(scope="module")
def connection():
    """Open a database as a run does, with the key bound."""
    opened = duckdb.connect(
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "threads": "2"}
    )
    opened.execute("SET python_enable_replacements = false")
    opened.execute("ATTACH ':memory:' AS staging (READ_WRITE)")
    opened.execute("SET TimeZone = 'America/New_York'")  # nothing may depend on where it runs
    opened.execute("SET VARIABLE sqlmicro_order = $1", [KEY])
    for name, pad in zip(("inner", "outer"), pads(b"k" * 80), strict=True):
        opened.execute(f"SET VARIABLE sqlmicro_{name}_pad = $1", [pad])
    with opened:
        yield opened


def run(connection, case):
    """Return the names of the columns and the rows of a case."""
    sql = templates.render(case.template, **case.params)
    if not case.show:
        cursor = connection.execute(sql)
        return [column[0] for column in cursor.description], cursor.fetchall()
    connection.execute(f'CREATE OR REPLACE TABLE staging."the result" AS {sql}')
    names = [row[0] for row in connection.execute('DESCRIBE staging."the result"').fetchall()]
    return names, connection.execute(f'SELECT {case.show} FROM staging."the result"').fetchall()


class OnDuckDB:
    """DuckDB under test: a warehouse that has borrowed the connection which makes its relations."""

    def __init__(self, connection, warehouse):
        self.connection, self.warehouse = connection, warehouse

    def put(self, case):
        prepare(self.connection, case)

    def shown(self, relation, show):
        return self.connection.execute(f"SELECT {show} FROM {templates.ident(relation)}").fetchall()


@pytest.fixture(scope="module")
def bench():
    with duckdb.connect(config={"threads": "2"}) as opened, open_warehouse(Held(opened)) as warehouse:
        warehouse.query("zone", "SET TimeZone = 'America/New_York'")  # nothing may depend on where it runs
        opened.execute("SET TimeZone = 'America/New_York'")
        bind(warehouse)
        yield OnDuckDB(opened, warehouse)


# (a) rows


@pytest.mark.parametrize("stage", STAGES)
def test_rows(bench: Bench, stage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    @each("name, case", of_stage(stage))
    def rows_are_the_expected_ones(name, case):
        names, rows = rows_of(bench, case)
        assert names == case.returns
        assert same_rows(case.expect, rows, case.ordered), rows

    rows_are_the_expected_ones()


# (b) header


@each("template", TEMPLATES)
def test_header_is_complete_and_true(template):
    text = (templates.root() / template).read_text(encoding="utf-8")
    lines = text.splitlines()
    top = lines[: next(i for i, line in enumerate(lines) if not line.startswith("--"))]
    known = {*templates.HEADER, *templates.OPTIONAL}
    keys = [match[1] for line in top if (match := re.match(r"-- (\w+):", line)) and match[1] in known]
    assert [key for key in keys if key not in templates.OPTIONAL] == list(templates.HEADER)
    assert len(set(keys)) == len(keys)
    assert not any(line.startswith("--") for line in lines[len(top) :]), "a comment below the header"
    header = templates.header(template)
    assert all(header[key] for key in keys)
    used = jinja2.meta.find_undeclared_variables(templates.environment().parse(text))
    assert templates.declared_params(template) == used


STORED_IN_ORDER = {template for template in TEMPLATES if templates.is_ordered(template)}


def test_what_is_read_by_position_says_in_which_order_it_is_stored():
    by_position = {
        template
        for template in TEMPLATES
        if re.search(r"^(?!--).*(?<!AS )\browid\b", templates.text_of(template), re.M)
    }
    names = {Path(template).stem: template for template in STORED_IN_ORDER}
    read = {names[name] for template in by_position for name in templates.declared_params(template) & names.keys()}
    # load/numbered.sql counts it by a window without order; publish/records.sql joins by place; NumPy reads the last
    assert STORED_IN_ORDER - read == {"load/shuffled.sql", "publish/words_of_records.sql", "mask/ranked.sql"}
    for template in by_position:
        stored = {*names, "words"}  # which the warehouse makes in their order
        assert templates.declared_params(template) & stored, f"{template} reads an order that nobody has said"
    for template in STORED_IN_ORDER:
        assert templates.text_of(template).splitlines()[-1].startswith("ORDER BY "), template
    assert all(case.ordered for case in CASES if case.template in STORED_IN_ORDER)


@each("name, case", NUMBERED)
def test_compiled_is_one_select_under_its_header(connection, name, case):
    sql = templates.render(case.template, **case.params)
    (statement,) = connection.extract_statements(sql)
    assert statement.type == duckdb.StatementType.SELECT
    body = [line for line in sql.splitlines() if not line.startswith("--")]
    assert body[0].startswith(("SELECT", "WITH"))
    assert sql.startswith(f"-- title: {templates.header(case.template)['title'][:20]}")
    assert sql == templates.render(case.template, **case.params)


# (c) every template has a case


def test_every_template_has_a_row_test():
    assert {case.template for case in CASES} == set(TEMPLATES)


# (d) goldens


@each("template", REVIEWED)
def test_compiled_equals_its_golden(template):
    assert template in FIRST_CASE, "the golden of a template that is gone: remove it"
    sql = templates.render(template, **FIRST_CASE[template].params) + "\n"
    golden = GOLDEN / template
    if os.environ.get("SQLMICRO_GOLDEN") == "write":
        golden.write_text(sql, encoding="utf-8")
    assert sql == golden.read_text(encoding="utf-8"), (
        f"{template} compiles to other SQL than {golden}. If that is meant, run "
        "SQLMICRO_GOLDEN=write pytest tests/sql, and read the diff before you commit it."
    )


# (e) index


def test_index_lists_every_template_with_its_title():
    index = (templates.root() / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([^`]+[.]sql)` \| (.+) \|$", index, flags=re.MULTILINE)
    assert listed == [(template, templates.header(template)["title"]) for template in TEMPLATES]


def test_index_shows_what_the_filters_write():
    index = (templates.root() / "README.md").read_text(encoding="utf-8").replace("\\|", "|")
    shown = re.findall(r"^\| `({{.*?}})` \| `(.*?)`", index, flags=re.MULTILINE)
    given = {
        "relation": templates.Name("", "staging", "typed"),
        "columns": ["land", "age"],
        "value": "a text",
        "column": "DECIMAL(9,2)",
        "stream": "stream",
    }
    written = {text: templates.statement(text, **given) for text, _ in shown if "loop" not in text}
    assert written == {text: sql for text, sql in shown if "loop" not in text}
    assert len(written) == 9


# (f) no logic in templates


@each("template", TEMPLATES)
def test_template_has_no_logic(template):
    text = (templates.root() / template).read_text(encoding="utf-8")
    blocks = re.findall(r"{%[-+]?\s*(.*?)\s*[-+]?%}", text, flags=re.DOTALL)
    logic = {block for block in blocks if not re.match(r"for \w+(, \w+)* in |endfor$", block)}
    allowed = {"if nominal", "else", "endif"} if template == "safe/deviations.sql" else set()
    assert logic <= allowed
    assert "{#" not in text
    # What is printed is filtered or a whole number; no inline if, no arithmetic.
    for printed in re.findall(r"{{\s*(.*?)\s*}}", text):
        assert re.fullmatch(
            r"[\w.]+ \| (ident|idents|lit|sqltype)|k|k - 1|most|first|second|distance|loop\.index"
            r'|loop \| between\("UNION( ALL)?"\)'
            r"|[\w.]+ \| combination(\(part\.number\))?"
            r'|\w+ \| listed\("[^"]*"\)|\w+ \| same\("\w+", "\w+"\)'
            r'|stream \| drawn_of\("\w+", averaged\)'
            r'|("\w+"|stream) \| draw\(("\w+"(, (columns|\[\]))?)?(, )?(purpose="\w+")?\)',
            printed,
            flags=re.DOTALL,
        ), printed


# (g) rendering


def test_render_refuses_unknown_and_missing_parameters():
    given = {"relation": rel("typed"), "numeric": [col("x")], "ordinal": [], "nominal": [], "strata": []}
    assert "SELECT" in templates.render("load/features.sql", **given)
    with pytest.raises(TemplateError, match=r"load/features.sql.*numeric.*missing \['numeric'\]"):
        templates.render("load/features.sql", relation=rel("typed"), ordinal=[], nominal=[], strata=[])
    with pytest.raises(TemplateError, match=r"unknown \['colums'\]"):
        templates.render("load/features.sql", **given, colums=[])


@each(
    ("text", "value"),
    [
        ("SELECT {{ x }}", "1; DROP TABLE persons"),
        ("SELECT {{ x }}", 0.5),
        ("SELECT {{ x }}", True),
        ("SELECT {{ x }}", None),
        ("SELECT {{ x }}", ["a"]),
        ("SELECT {{ x }}", col("x")),
        ("SELECT {{ x | ident | upper }}", "a"),
        ("SELECT {{ x | ident ~ x }}", "a"),
        ('SELECT {{ x | lit | replace("\'\'", "\'") }}', "it's"),
        ("SELECT {{ 'x' }}{{ x | ident }}", "a"),
        ("SELECT {{ x | ident }}", ""),
        ("SELECT {{ x | ident }}", 5),
        ("SELECT {{ x | ident }}", None),
        ("SELECT {{ x | ident }}", "a\0b"),
        ("SELECT {{ x | lit }}", "a\0b"),
        ("SELECT {{ x | lit }}", float("nan")),
        ("SELECT {{ x | lit }}", float("inf")),
        ("SELECT {{ x | lit }}", b"a"),
        ("SELECT {{ x | lit }}", {"a": 1}),
        ("SELECT {{ x | lit }}", [b"a"]),
        ("SELECT {{ ['a'] | listed(x) }}", "{}; DROP TABLE persons"),
        ("SELECT {{ ['a'] | listed(x ~ '{}') }}", "1; DROP TABLE persons; "),
        ("SELECT {{ ['a'] | listed('{}' ~ x) }}", "; DROP TABLE persons"),
        ("SELECT {% filter listed(x) %}a{% endfilter %}", "{}; DROP TABLE persons"),
        ('SELECT {{ x | listed("{}") }}', [5]),
        ('SELECT {{ x | listed("{}") }}', ["a\0b"]),
        ('SELECT {{ x | listed("{}") | upper }}', ["a"]),
        ("SELECT {{ ['a'] | same(x, 't') }}", "s; DROP TABLE persons"),
        ("SELECT {{ ['a'] | same('s', x) }}", 't".'),
        ("SELECT {{ x | same('s', 't') }}", [None]),
        ("{% for a in [1, 2] %}SELECT 1 {{ loop | between(x) }} {% endfor %}", "; DROP TABLE persons;"),
        ("SELECT {{ 'key' | draw(x) }}", "row_id); DROP TABLE persons"),
        ("SELECT {{ 'key' | draw('row_id', purpose=x) }}", "'"),
        ("SELECT {{ 'key' | draw('row_id', x) }}", [7]),
    ],
)
def test_only_names_literals_and_whole_numbers_are_printed(text, value):
    with pytest.raises(TemplateError):
        templates.statement(text, x=value)


def test_a_blank_line_of_a_name_or_a_comment_stays_and_those_of_the_template_go():
    names = [f"a{line}b" for line in ("\n\n", "\n \n", '"\n\n', "--\n\n")]
    columns = [Column(name, "INTEGER", name) for name in names]
    text = templates.render("audit/cells.sql", relation=rel("r"), columns=columns, summed=())
    for name in names:
        assert text.count(templates.ident(name)) == 1
        text = text.replace(templates.ident(name), "name")
    assert "\n\n" not in text


def test_a_name_that_looks_like_a_hole_is_a_name():
    columns = [Column("{n}", "INTEGER", "{name}"), Column('"{}"', "INTEGER", "{1}")]
    text = templates.statement('SELECT {{ x | listed("{} AS {name}") }}', x=columns)
    assert text == 'SELECT "{name}" AS "{n}", "{1}" AS """{}"""'


def test_a_missing_value_is_refused():
    with pytest.raises((TemplateError, jinja2.UndefinedError)):
        templates.statement("SELECT {{ x | ident }}")


NASTY = ['net "income"', "it's", "a;b", "--", "/*", "x\ny", "Ä ß 名", "{{ x }}", "select", " ", "\\", "$1", "?"]


@each("text", NASTY)
def test_names_and_values_arrive_as_they_are(connection, text):
    sql = templates.statement(
        "SELECT {{ v | lit }} AS {{ n | ident }}, {{ l | lit }} AS l", v=text, n=text, l=[text, "a"]
    )
    cursor = connection.execute(sql)
    assert [column[0] for column in cursor.description] == [text, "l"]
    assert cursor.fetchall() == [(text, [text, "a"])]


# Columns of the user's may have any name: what a template calls its own must not get in their way.


def own_names(case):
    """Return the names that the compiled template gives to columns, relations and subqueries."""
    sql = templates.render(case.template, **case.params)
    body = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    return sorted({*re.findall(r"\bAS (\w+)", body), *re.findall(r"(\w+) AS \(", body)})


def columns_of(value):
    """Return the columns in a parameter, however deep."""
    if isinstance(value, Column):
        return {value}
    if isinstance(value, templates.Select):
        value = list(value.params.values())
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) and not isinstance(value, templates.Name):
        return {column for part in value for column in columns_of(part)}
    return set()


def templates_of(template, params):
    """Yield a template and those that it reads in place of a relation."""
    yield template
    for value in params.values():
        if isinstance(value, templates.Select):
            yield from templates_of(value.template, value.params)


def exchanged(value, old, new):
    """Return a parameter with one column in place of another, also where its staged name is given."""
    if value == old or value == old.staged:
        return new if value == old else new.staged
    if isinstance(value, templates.Select):
        return templates.select(value.template, **{k: exchanged(v, old, new) for k, v in value.params.items()})
    if isinstance(value, list):
        return [exchanged(part, old, new) for part in value]
    if isinstance(value, dict):
        return {name: exchanged(part, old, new) for name, part in value.items()}
    if isinstance(value, tuple) and not isinstance(value, templates.Name):
        return tuple(exchanged(part, old, new) for part in value)
    return value


def rename(connection, case, before, after):
    """Rename a column of the input relations; return whether there is such a column, and none of the new name."""
    tables = {
        table: {row[0].lower() for row in connection.execute(f"DESCRIBE staging.{table}").fetchall()}
        for table in case.given
    }
    with_column = [table for table, names in tables.items() if before.lower() in names]
    if any(after.lower() in tables[table] for table in with_column):
        return False
    for table in with_column:
        change = f"RENAME COLUMN {templates.ident(before)} TO {templates.ident(after)}"
        connection.execute(f"ALTER TABLE {templates.ident(rel(table))} {change}")
    return bool(with_column)


def run_renamed(connection, case, old, name):
    """Run a case with one column called otherwise, as the pipeline would call it; return what went wrong."""
    (made,) = make_columns([(name, old.type)])
    new = Column(made.name, old.type, made.staged, old.collated)
    by_name = not NAMED_AS_IN_THE_SOURCE.isdisjoint(templates_of(case.template, case.params))
    before, after = (old.name, new.name) if by_name else (old.staged, new.staged)
    prepare(connection, case)
    named = any(f"'{old.name}'" in str(given) for given in case.given.values())  # a relation that has it as a value
    if named or not rename(connection, case, before, after):
        return ""
    expect = case.expect
    if case.returns[0] == "column_name":
        expect = [(new.name if row[0] == old.name else row[0], *row[1:]) for row in expect]
    params = {key: exchanged(value, old, new) for key, value in case.params.items()}
    try:
        _, rows = run(connection, Case(case.template, params, [], []))
    except duckdb.Error as error:
        return f"{case.template}, {old.name} called {name}: {str(error).splitlines()[0]}"
    if same_rows(expect, rows, case.ordered):
        return ""
    return f"{case.template}, {old.name} called {name}: {rows} instead of {expect}"


def wrongly_renamed(connection, stage, pairs):
    """Return what goes wrong in the cases of a stage under the renamings of columns that `pairs` makes of a case."""
    cases = [case for _, case in of_stage(stage) if not case.show and columns_of(list(case.params.values()))]
    return [
        wrong
        for case in cases
        for column, name in pairs(*renaming(case))
        if (wrong := run_renamed(connection, case, column, name))
    ]


@pytest.mark.parametrize("stage", STAGES)
def test_a_column_may_have_any_name(connection, stage, tmp_path, monkeypatch):
    """One column of a case and one name, another in each case; the slow test has each with each."""
    monkeypatch.chdir(tmp_path)
    tried = count()

    def one(columns, names):
        number = next(tried)
        return [(columns[number % len(columns)], names[number % len(names)])] if names else []

    assert wrongly_renamed(connection, stage, one) == []


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_every_column_may_have_any_name(connection, stage, tmp_path, monkeypatch):
    """Every column of a case and every name; with WHOLE=1 each column has each name."""
    monkeypatch.chdir(tmp_path)

    def every(columns, names):
        if os.environ.get("WHOLE"):
            return product(columns, names)
        many = max(len(columns), len(names)) if names else 0
        return [(columns[i % len(columns)], names[i % len(names)]) for i in range(many)]

    assert wrongly_renamed(connection, stage, every) == []


def renaming(case):
    """Return the columns of a case, and the names to try."""
    return sorted(columns_of(list(case.params.values())), key=lambda column: column.name), list(own_names(case))


# Chains and oracles


@pytest.mark.parametrize(("size", "variances"), [(3, 22498.92), (4, 39214.94), (5, 28719.28)])
def test_worked_example_of_split_groups(connection, size, variances):
    """Höhne's worked example from the table to the sum of variances, each step reading what the one before made."""

    def step(template, into, kind="TABLE", **params):
        sql = templates.render(template, **params)
        connection.execute(f"CREATE OR REPLACE {kind} {templates.ident(rel(into))} AS {sql}")
        return rel(into)

    rows = ", ".join(f"({i}, {x})" for i, x in enumerate(cases_group.HOEHNE))
    connection.execute(f"CREATE OR REPLACE TABLE staging.typed AS SELECT * FROM (VALUES {rows}) AS t(row_id, x)")
    ordered = step("group/sorted.sql", "chain_sorted", relation=rel("typed"), by=[], column=col("x"))
    strata = step("group/strata_as_documented.sql", "chain_strata", sorted=ordered, by=[], k=size)
    groups = step("group/groups_by_rank.sql", "chain_groups", "VIEW", sorted=ordered, strata=strata, by=[], k=size)
    found = connection.execute(templates.render("group/variance_sum.sql", groups=groups)).fetchall()
    assert found == [(pytest.approx(variances, abs=0.005),)]
    if size == 3:
        values = step("replace/split_values.sql", "chain_values", groups=groups, by=[])
        released = connection.execute(f"SELECT value FROM {templates.ident(values)} ORDER BY row_id").fetchall()
        printed = [381.51, 657.55, 871.73, 132, 579.40, 871.73, 579.40, 336.97, 3, 381.51, 393.20]
        assert [value for (value,) in released] == pytest.approx(printed, abs=0.005)
    connection.execute("DROP VIEW staging.chain_groups")


def test_sorted_keeps_its_order_as_a_table(connection):
    """The physical order is the meaning, also where several threads write."""
    connection.execute(
        "CREATE OR REPLACE TABLE staging.typed AS SELECT i AS row_id, (i * 7919) % 1009 AS x, i % 3 AS land "
        "FROM range(300_000) AS t(i)"
    )
    sql = templates.render("group/sorted.sql", relation=rel("typed"), by=[col("land")], column=col("x"))
    connection.execute(f"CREATE OR REPLACE TABLE staging.sorted AS {sql}")
    wrong = connection.execute(
        "SELECT count(*) FROM staging.sorted AS a JOIN staging.sorted AS b ON b.rowid = a.rowid + 1 "
        "WHERE (a.land, a.value, a.row_id) >= (b.land, b.value, b.row_id)"
    ).fetchall()
    assert wrong == [(0,)]
    assert connection.execute("SELECT max(rowid) FROM staging.sorted").fetchall() == [(299_999,)]


@pytest.mark.parametrize("rule", ["spread_from_both_ends", "last"])
def test_rank_means_equal_group_means(connection, rule):
    """Neighbours and GROUP BY give the same means, also where a table has many row groups and strata."""
    connection.execute(
        "CREATE OR REPLACE TABLE staging.typed AS SELECT i AS row_id, (i * 7919) % 100_003 AS x, "
        "CASE WHEN i % 7 > 0 THEN i % 7 END AS land FROM range(150_000) AS t(i)"
    )
    land, k = col("land"), 4

    def step(template, into, **params):
        sql = templates.render(template, **params)
        connection.execute(f"CREATE OR REPLACE TABLE {templates.ident(rel(into))} AS {sql}")
        return rel(into)

    ordered = step("group/sorted.sql", "sorted", relation=rel("typed"), by=[land], column=col("x"))
    strata = step(f"group/strata_{rule}.sql", "strata", sorted=ordered, by=[land], k=k)
    placed = step("replace/middle_means.sql", "placed", sorted=ordered, strata=strata, by=[land])
    by_rank = step("replace/rank_means.sql", "by_rank", sorted=ordered, strata=placed, by=[land], k=k)
    groups = step("group/groups_by_rank.sql", "groups", sorted=ordered, strata=strata, by=[land], k=k)
    means = step("replace/group_means.sql", "means", grouped=groups, columns=["value"])
    by_group = step("replace/by_label.sql", "by_group", groups=groups, representatives=means, columns=["value"])
    found = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE abs(a.value - b.value) > 1e-6), count(DISTINCT a.value) "
        f"FROM {templates.ident(by_rank)} AS a JOIN {templates.ident(by_group)} AS b USING (row_id)"
    ).fetchall()
    assert found[0][:2] == (150_000, 0)
    assert found[0][2] > 30_000


def test_plain_group_by_would_merge_what_is_told_apart(connection):
    """Hold that the cases on canonical bytes test something: the plain GROUP BY does merge these."""
    tried = 0
    for case in CASES:
        cells = case.params.get("cells")
        columns = cells.params["columns"] if isinstance(cells, templates.Select) else ()
        if [(c.name, c.type) for c in columns] in ([("name", "VARCHAR")], [("x", "DOUBLE")], [("span", "INTERVAL")]):
            tried += 1
            prepare(connection, case)
            merged = connection.execute(
                f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM staging.released "
                f"GROUP BY {templates.idents(c.name for c in columns)}) GROUP BY n ORDER BY n"
            ).fetchall()
            assert merged != [row[:2] for row in case.expect]
    assert tried == 3


def test_typed_takes_collation_and_dictionary_off(connection):
    case = next(case for case in CASES if case.template == "load/typed.sql" and case.params["collated"])
    prepare(connection, case)
    sql = templates.render(case.template, **case.params)
    connection.execute(f"CREATE OR REPLACE TABLE staging.typed AS {sql}")
    for table, names in (("typed", 2), ("persons", 1)):
        # Not count(DISTINCT name): DuckDB 1.5 leaves the collation out of it.
        found = connection.execute(
            f"SELECT count(*) FROM (SELECT name FROM staging.{table} WHERE name IS NOT NULL GROUP BY name)"
        )
        assert found.fetchall() == [(names,)]
    types = dict(connection.execute("SELECT column_name, column_type FROM (DESCRIBE staging.typed)").fetchall())
    assert types == {
        "record": "UBIGINT", "name": "VARCHAR", "span": "VARCHAR", "grade": "VARCHAR",
        "day": "DOUBLE", "moment": "DOUBLE", "zoned": "DOUBLE",
    }  # fmt: skip


def test_no_rows_carries_the_collation(connection):
    connection.execute("CREATE OR REPLACE TABLE staging.persons (a VARCHAR COLLATE NOCASE, b VARCHAR)")
    sql = templates.render("load/no_rows.sql", relation=rel("persons"), columns=[("a", "c0"), ("b", "c1")])
    connection.execute(f"CREATE OR REPLACE TABLE staging.no_rows AS {sql}")
    ((definition,),) = connection.execute(
        "SELECT sql FROM duckdb_tables() WHERE table_name = 'no_rows' AND database_name = 'staging'"
    ).fetchall()
    assert "c0 VARCHAR COLLATE" in definition
    assert "c1 VARCHAR COLLATE" not in definition


def dense_deviations(original, changed, nominal, numeric, sets):
    """Return SAFE's deviations from the dense Z: one row of zeros and ones per record, one column per value."""
    records = [[record for record in file for _ in range(record["n"])] for file in (original, changed)]
    levels = {c: sorted({r[c] for file in records for r in file}, key=repr) for c in nominal}
    Z = [
        {c: np.array([[r[c] == v for v in levels[c]] for r in file], dtype=float) for c in nominal} for file in records
    ]
    X = [np.array([[r[x] or 0.0 for x in numeric] for r in file]) for file in records]
    rows = []
    for chosen in sets:
        Z_S = []
        for file, dummies in zip(records, Z, strict=True):
            product = np.ones((len(file), 1))
            for c in chosen:
                product = (product[:, :, None] * dummies[c][:, None, :]).reshape(len(file), -1)
            Z_S.append(product)
        A = [np.diag(z.T @ z) for z in Z_S]
        if len(chosen) == 2:  # the table of two columns is the block of Z'Z outside the diagonal
            for a, z in zip(A, Z, strict=True):
                assert a.tolist() == (z[chosen[0]].T @ z[chosen[1]]).ravel().tolist()
        T = [z.T @ x for z, x in zip(Z_S, X, strict=True)]
        dA, dT = np.abs(A[0] - A[1]), np.abs(T[0] - T[1])
        table_id = sum(2 ** (len(nominal) - 1 - i) for i, c in enumerate(nominal) if c not in chosen)
        occur = int(((A[0] > 0) | (A[1] > 0)).sum())
        sums = [float(value) for j in range(len(numeric)) for value in (dT[:, j].sum(), dT[:, j].max())]
        rows.append((table_id, occur, int((dA > 0).sum()), int(dA.sum()), int(dA.max()), *sums))
    return sorted(rows)


@each("seed", range(6))
def test_deviations_equal_dense_products(connection, seed):
    source = random.Random(seed)
    nominal, numeric = ["a", "b", "c"][: 1 + seed % 3], ["x", 'net "income"'][: seed % 3]

    def make_file():
        cells = {}
        for _ in range(source.randint(5, 25)):
            key = (source.choice(["u", "v", None]), source.choice([1, 2, 3]), source.choice([None, True]))
            numbers = (source.choice([None, 0.0, -1.5, 2.25]), source.randint(-3, 3))
            cells[key[: len(nominal)] + numbers[: len(numeric)]] = source.randint(1, 4)
        return [dict(zip([*nominal, *numeric, "n"], [*key, n], strict=True)) for key, n in cells.items()]

    files = [make_file(), make_file()]
    types = {"a": "VARCHAR", "b": "INTEGER", "c": "BOOLEAN", "x": "DOUBLE", 'net "income"': "INTEGER", "n": "BIGINT"}
    names = [*nominal, *numeric, "n"]
    for table, file in zip(("original", "changed"), files, strict=True):
        described = ", ".join(f"{templates.ident(name)} {types[name]}" for name in names)
        connection.execute(f"CREATE OR REPLACE TABLE staging.{table} ({described})")
        insert(connection, f"staging.{table}", [list(r.values()) for r in file])
    columns = {name: col(name, types[name]) for name in names}
    sets = [chosen for size in range(1, len(nominal) + 1) for chosen in combinations(nominal, size)]
    sql = templates.render(
        "safe/deviations.sql",
        original=rel("original"),
        changed=rel("changed"),
        nominal=[columns[name] for name in nominal],
        numeric=[columns[name] for name in numeric],
        sets=[tuple(columns[name] for name in chosen) for chosen in sets],
    )
    rows = connection.execute(sql).fetchall()
    assert same_rows(dense_deviations(*files, nominal, numeric, sets), rows, ordered=True), rows
