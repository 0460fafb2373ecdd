"""Functions and operators that users of a PostgreSQL server have made stand for none that our statements call there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from test_postgres import CHILDREN, OPTIONS, URL, Server, persons, pytestmark, server  # noqa: F401

import sqlmicro
from sqlmicro.database import mirror
from sqlmicro.database import postgres as server_side
from sqlmicro.publish import postgres

# For every function of the server that a function in SQL can be like: the same name and types, and nothing as result.
EVERY_FUNCTION = """
DO $$ DECLARE f record; made int := 0; BEGIN
  FOR f IN SELECT proname, pg_get_function_identity_arguments(oid) AS given, format_type(prorettype, NULL) AS result
    FROM pg_catalog.pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
      AND proname ~ '%s'
  LOOP BEGIN
    EXECUTE format('CREATE FUNCTION hostile.%%I(%%s) RETURNS %%s LANGUAGE sql AS ''SELECT NULL::%%s''',
      f.proname, f.given, f.result, f.result);
    made := made + 1;
  EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP;
  RAISE NOTICE '%% functions', made;
END $$;"""
# For every operator that compares, with types that fit better than those of the server's own.
EVERY_OPERATOR = """
DO $$ DECLARE o record; made int := 0; BEGIN
  FOR o IN SELECT DISTINCT n.oprname, l.typ AS l, r.typ AS r
    FROM pg_catalog.pg_operator n,
      unnest(ARRAY['oid', 'regclass', 'name', 'text', '"char"', 'int2', 'int4', 'int8', 'tid', 'bool']) AS l(typ),
      unnest(ARRAY['oid', 'regclass', 'name', 'text', '"char"', 'int2', 'int4', 'int8', 'tid', 'bool']) AS r(typ)
    WHERE n.oprnamespace = 'pg_catalog'::regnamespace AND n.oprname IN ('=', '<>', '<', '>', '<=', '>=', '~~', '||')
  LOOP BEGIN
    EXECUTE format('CREATE FUNCTION hostile.never(%%s, %%s) RETURNS bool LANGUAGE sql AS ''SELECT false''', o.l, o.r);
  EXCEPTION WHEN duplicate_function THEN NULL; END;
  BEGIN
    EXECUTE format('CREATE OPERATOR hostile.%%s (FUNCTION = hostile.never, LEFTARG = %%s, RIGHTARG = %%s)',
      o.oprname, o.l, o.r);
    made := made + 1;
  EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP;
  RAISE NOTICE '%% operators', made;
END $$;"""


@pytest.fixture
def hostile(persons: Server) -> Any:  # noqa: F811
    """Yield a server with a schema on the search path of everybody, behind the server's own."""
    persons.sql("CREATE SCHEMA hostile; ALTER DATABASE postgres SET search_path = public, hostile")
    yield persons
    persons.sql("ALTER ROLE postgres RESET search_path; ALTER DATABASE postgres RESET search_path")
    persons.sql("SET client_min_messages = error; DROP SCHEMA hostile CASCADE")


def shadow(server: Server, name: str = ".") -> tuple[int, int]:  # noqa: F811
    """Make the functions that match, and all operators; return how many there are."""
    server.sql(EVERY_FUNCTION % name)
    server.sql(EVERY_OPERATOR % ())
    counted = "SELECT count(*) FROM pg_catalog.%s WHERE %s = 'hostile'::regnamespace"
    functions, operators = (
        int(server.sql(counted % pair)[0]) for pair in (("pg_proc", "pronamespace"), ("pg_operator", "oprnamespace"))
    )
    return functions, operators


def released(server: Server) -> tuple[list[str], list[str]]:  # noqa: F811
    """Anonymize in place and into a table; return what came of it."""
    server.sql("DROP TABLE IF EXISTS made")
    into = sqlmicro.mdav("crm.public.persons", into="crm.public.made", rest="drop", seed="s", **COLUMNS)
    place = sqlmicro.mdav("crm.public.persons", in_place=True, seed="s", **OPTIONS)
    report = [into["output_hash"], place["output_hash"], str(place["purged"])]
    return report, server.sql("SELECT id, code, age, income, city, born FROM public.persons ORDER BY id")


COLUMNS: dict[str, Any] = {"columns": ["age", "income", "born"], "k": 4, "attach": URL}
MODULES = (server_side, mirror, postgres, postgres, postgres)
ASKED = "".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in MODULES)
CALLED = sorted(set(re.findall(r"pg_catalog\.(\w+)\(", ASKED)) | {"version", "count"})


def test_a_release_is_the_same_where_every_function_and_operator_is_shadowed(
    hostile: Server,
    persons: Server,  # noqa: F811
) -> None:
    from test_postgres import PERSONS

    expected = released(hostile)
    hostile.sql("DROP TABLE made; " + PERSONS)
    functions, operators = shadow(hostile)
    print(functions, "functions,", operators, "operators")
    assert functions > 1500
    assert operators > 300
    assert released(hostile) == expected


@pytest.mark.parametrize("name", CALLED)
def test_what_forbids_a_change_is_found_whatever_function_is_shadowed(hostile: Server, name: str) -> None:
    """One function after the other, and the operators: a foreign key that is not found would have records deleted."""
    hostile.sql(CHILDREN)
    shadow(hostile, f"^{name}$")
    report = sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert "other tables refer to it (visits)" in " ".join(report["notes"])
    assert hostile.sql("SELECT count(*) FROM public.visits") == ["1"]


@pytest.mark.parametrize("whose", ["ROLE postgres", "DATABASE postgres"])
def test_a_search_path_with_others_before_the_servers_functions_is_refused(hostile: Server, whose: str) -> None:
    hostile.sql(f"ALTER {whose} SET search_path = hostile, pg_catalog")
    shadow(hostile, "^(current_schemas|unnest|array_agg|version)$")
    for changes in ({"in_place": True, **OPTIONS}, {"to": "unused.csv", "rest": "drop", **COLUMNS}):
        with pytest.raises(sqlmicro.InputError, match="schema 'hostile' before pg_catalog"):
            sqlmicro.mdav("crm.public.persons", **changes)
