"""What `profile` proposes, and why; roles are never settled silently."""

import pytest

from sqlmicro.database.column_roles import settle_roles
from sqlmicro.database.columns import Column, ColumnProfile, make_columns, pick, split_names
from sqlmicro.database.whole_numbers import WholeNumbers
from sqlmicro.errors import InputError, ParameterError


def proposal(name, kind, *, rows=1000, nulls=0, distinct=500, sequential=False, is_key=False, smallest=None):
    whole = None if smallest is None else WholeNumbers(smallest, smallest + distinct - 1, distinct // 5)
    found = ColumnProfile(Column(name, kind, name), rows, nulls, distinct, sequential, is_key, whole=whole)
    return found.scale[0], found.role[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # Nobody computes with a key, of the own record or of another table's: a mean of keys is a wrong one.
        (("id", "BIGINT", {"distinct": 1000}), ("nominal", "identifier")),
        (("customerId", "INTEGER", {"distinct": 990}), ("nominal", "identifier")),
        (("employer_id", "INTEGER", {"distinct": 40}), ("nominal", "quasi")),
        (("employer_id", "DOUBLE", {"distinct": 40}), ("numeric", "quasi")),
        (("running_number", "BIGINT", {"distinct": 1000, "sequential": True}), ("numeric", "identifier")),
        (("income", "BIGINT", {"distinct": 1000}), ("numeric", "quasi")),
        (("income", "DOUBLE", {"distinct": 1000}), ("numeric", "quasi")),
        (("e-mail", "VARCHAR", {"distinct": 900}), ("nominal", "identifier")),
        (("Vorname", "VARCHAR", {"distinct": 600}), ("nominal", "identifier")),
        (("region_name", "VARCHAR", {"distinct": 16}), ("nominal", "quasi")),
        (("comment", "VARCHAR", {"distinct": 1000}), ("nominal", "identifier")),
        (("token", "UUID", {"distinct": 1000}), ("nominal", "identifier")),
        (("code", "INTEGER", {"distinct": 12}), ("nominal", "quasi")),
        (("code", "INTEGER", {"distinct": 21}), ("nominal", "quasi")),
        (("points", "INTEGER", {"distinct": 21}), ("numeric", "quasi")),
        (("nr", "INTEGER", {"distinct": 1000, "is_key": True}), ("numeric", "identifier")),
        (("born", "DATE", {}), ("numeric", "quasi")),
        (("grade", "ENUM('low', 'high')", {"distinct": 2}), ("ordinal", "quasi")),
        (("diagnosis", "VARCHAR", {"distinct": 40}), ("nominal", "sensitive")),
        (("sampling_weight", "DOUBLE", {}), ("numeric", "weight")),
        (("tags", "VARCHAR[]", {"distinct": 5}), ("nominal", "quasi")),
    ],
)
def test_proposals(arguments, expected):
    name, kind, more = arguments
    assert proposal(name, kind, **more) == expected


@pytest.mark.parametrize(
    ("name", "rows", "first", "role"),
    [
        # The nine salaries, 3 to 11, of Li, Li & Venkatasubramanian (2007), table 3, in thousands.
        ("salary", 9, 3, "sensitive"),
        ("s", 9, 3, "quasi"),
        ("age", 25, 20, "quasi"),
        ("x", 25, 20, "quasi"),
        ("Alter", 120, 0, "quasi"),
        ("year", 309, 1700, "quasi"),
        # Who counts begins with 0 or 1, or far above how much is counted; and many are not consecutive by chance.
        ("x", 25, 0, "identifier"),
        ("x", 9, 1, "identifier"),
        ("x", 25, 1001, "identifier"),
        ("x", 100, 20, "identifier"),
        ("Unnamed: 0", 25, 0, "identifier"),
        # A number that is one by its name.
        ("case_id", 9, 3, "identifier"),
    ],
)
def test_consecutive_numbers_are_identifiers_where_they_count_records(name, rows, first, role):
    assert proposal(name, "BIGINT", rows=rows, distinct=rows, sequential=True, smallest=first)[1] == role


def test_every_column_gets_exactly_one_role():
    a, b, c = make_columns([("a", "INTEGER"), ("b", "INTEGER"), ("c", "INTEGER")])
    roles = settle_roles([a, b, c], [a], [b], [c], None)
    assert (roles.used, roles.kept, roles.dropped) == ((a,), (b,), (c,))
    assert settle_roles([a, b, c], [a], [], [], "keep").kept == (b, c)
    with pytest.raises(InputError, match=r"no role for b, c"):
        settle_roles([a, b, c], [a], [], [], None)
    with pytest.raises(ParameterError, match=r"one role only.*a in both"):
        settle_roles([a, b, c], [a], [a], [], "drop")


def test_names_are_found_as_the_database_finds_them():
    columns = make_columns(
        [("Age", "INTEGER"), ('net "income"', "DOUBLE"), ("row_id", "INTEGER"), ("row_id_", "INTEGER")]
    )
    assert [c.name for c in pick(columns, ["age", 'NET "INCOME"'], "here")] == ["Age", 'net "income"']
    assert len({c.staged for c in columns}) == 4
    assert "row_id" not in {c.staged for c in columns}
    with pytest.raises(ParameterError, match="twice"):
        pick(columns, ["age", "Age"], "here")
    with pytest.raises(ParameterError, match="Did you mean 'Age'"):
        pick(columns, ["agee"], "here")
    assert split_names(["a, b", '"c,d"']) == ("a", "b", "c,d")
