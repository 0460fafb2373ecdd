"""Row tests of sql/attack/: what an attacker makes of a release."""

from __future__ import annotations

from .case import Case, case, col, rel, values

X, Y = col("x"), col("y")
NAME, INCOME = col("name", "BLOB"), col('net "income"')
SIZE = col("size", "DOUBLE", "size_")
BOTH = {"original": rel("original"), "released": rel("released")}


def key(number: int) -> str:
    """Write a key of a record as it is staged."""
    return f"{{'key_1': {number}}}"


# fmt: off
CASES: list[Case] = [
    # Equal names have one number over both tables, in the order of their bytes, NULL the last: a 0, b 1, c 2, NULL 3.
    case("attack/features.sql",
        {"original": values('"net ""income""", name', "(5e0, 'b'::BLOB), (NULL, NULL), (1e0, 'a'::BLOB)"),
            "released": values('"net ""income""", name', "(3e0, 'c'::BLOB), (3e0, 'b'::BLOB)")},
        **BOTH | {"numeric": [INCOME], "nominal": [NAME]},
        returns='source, position, net "income", name', ordered=True,
        expect=[(0, 0, 5.0, 1), (0, 1, None, 3), (0, 2, 1.0, 0), (1, 0, 3.0, 2), (1, 1, 3.0, 1)]),
    case("attack/features.sql", {"original": values("size_", "(5e0)"), "released": values("size_", "(3e0)")},
        **BOTH | {"numeric": [SIZE], "nominal": []},
        returns="source, position, size_", ordered=True, expect=[(0, 0, 5.0), (1, 0, 3.0)]),
    case("attack/columns.sql",
        released=values('"net ""income""", name, x, n', "(2e0, 'b'::BLOB, 0, 1), (NULL, NULL, 0, 1)"),
        relation=rel("released"), numeric=[INCOME], texts=[NAME],
        returns='net "income", name, n', ordered=True, expect=[(2.0, "b", 1), (None, None, 1)]),
    case("attack/linked.sql", original=values("row_id", f"({key(8)})", f"({key(9)})", f"({key(7)})"),
        linked=values("position, attack", "(0, 'x'), (2, 'y')"),
        returns="row_id, attack", show="row_id.key_1, attack", expect=[(8, "x"), (7, "y")]),
    # Record 7 is the third of the original and the first of the release; 9 was not released, 4 is new.
    case("attack/matches.sql",
        {"original": values("row_id", f"({key(8)})", f"({key(9)})", f"({key(7)})"),
            "released": values("row_id", f"({key(7)})", f"({key(4)})", f"({key(8)})")},
        **BOTH,
        returns="position, other", ordered=True, expect=[(0, 2), (2, 0)]),
    # The records at places 2 and 0.
    case("attack/drawn.sql", people=values('name, "net ""income"""', "('a', 3), ('b', 1), (NULL, 2)"),
        drawn=values("position", "(2), (0)"), relation=rel("people"), columns=[col("name", staged="p"), INCOME],
        returns='name, net "income"', expect=[("a", 3), (None, 2)]),
    case("attack/combinations.sql",
        released=values('"net ""income""", name', "(1, NULL), (2, 'b'::BLOB), (1, NULL), (1, 'b')"),
        columns=[INCOME, NAME],
        returns='net "income", name, n', show='"net ""income""", decode(name), n',
        expect=[(1, None, 2), (2, "b", 1), (1, "b", 1)]),
    # 9 was not released, 4 is nobody's.
    case("attack/became.sql",
        {"original": values("row_id, x", f"({key(8)}, 1)", f"({key(9)}, 2)"),
            "released": values("row_id, x", f"({key(4)}, 3)", f"({key(8)}, 5)")},
        **BOTH | {"columns": [X]},
        returns="row_id, x", show="row_id.key_1, x", expect=[(8, 5)]),
    # The third record became the second combination, (1, NULL), the first record the third; of the second nobody knows.
    case("attack/own_combinations.sql",
        {"original": values("row_id", f"({key(8)})", f"({key(9)})", f"({key(7)})"),
            "became": values("row_id, x, y", f"({key(7)}, 1, NULL)", f"({key(8)}, 2, 2)"),
            "released": values("x, y, n", "(1, 1, 4), (1, NULL, 2), (2, 2, 1)")},
        **BOTH | {"became": rel("became"), "columns": [X, Y]},
        returns="position, other", ordered=True, expect=[(0, 2), (2, 1)]),
    # sha256("sample of an attack 0"), … 1, 2 and 3 begin with 7b, 2a, c2 and b8.
    case("attack/sampled.sql", records=4, size=2, returns="position", ordered=True, expect=[(1,), (0,)]),
    # Ann is person 0, Bob 1, Cem 2: of the drawn, 0 and 2, all records; NULL is a person of her own, behind all others.
    case("attack/held_out.sql",
        people=values('who, "net ""income"""', "('Bob', 3), ('Cem', 1), ('Ann', 2), ('Cem', 4), (NULL, 5)"),
        drawn=values("position", "(0), (2)"), relation=rel("people"), columns=[col("who"), INCOME],
        unit=[col("who").staged], held=True,
        returns='who, net "income"', ordered=True, expect=[("Cem", 1), ("Ann", 2), ("Cem", 4)]),
    # Without persons a record is one, by its place.
    case("attack/held_out.sql", people=values("x", "(9), (8), (7)"), drawn=values("position", "(1)"),
        relation=rel("people"), columns=[X], unit=["position"], held=False,
        returns="x", ordered=True, expect=[(9,), (7,)]),
    # Of the original a and NULL are alone, b is a pair; of the control group a and NULL are like one, b is like two.
    case("attack/in_both.sql", original=values("who, x", "('a', 1), ('b', 2), ('b', 2), (NULL, 3)"),
        control=values("who, x", "('a', 1), ('b', 2), ('c', 1), (NULL, 3), ('a', 9)"), columns=[col("who"), X],
        returns="records, alone, in_pairs, control, found", expect=[(4, 2, 2, 5, 2)]),
    # The columns of the control group are found by their names, not by their places.
    case("attack/with_control.sql", original=values('"net ""income""", who', "(3, 'Bob'), (1, 'Ann')"),
        control=values('who, "net ""income"""', "('Cem', 2)"), columns=[INCOME, col("who")],
        returns='net "income", who', ordered=True, expect=[(3, "Bob"), (1, "Ann"), (2, "Cem")]),
    case("attack/staged.sql", people=values("row_id, x", "(7, 100), (8, NULL)"), relation=rel("people"),
        columns=[col("row_id", "INTEGER", "row_id_"), X],
        returns="row_id_, x", expect=[(7, 100), (8, None)]),
    case("attack/records.sql", typed=values("x, record", "(1, 30), (2, 10), (3, 20)"), relation=rel("typed"), first=[],
        returns="place", ordered=True, expect=[(1,), (2,), (0,)]),
    # Sorted by x first; who has none comes last.
    case("attack/records.sql", typed=values("x, record", "(NULL, 1), (2, 30), (2, 20), (-1, 40)"),
        relation=rel("typed"), first=[col("x", "INTEGER")],
        returns="place", ordered=True, expect=[(3,), (2,), (1,), (0,)]),
    # x: the group with mean 2 has 1 and 3: 2 · 2 - 3 = 1. The group with mean 5 has 4 and 7, its sum is off by 1; the
    # standard deviation of 1, 3, 4, 7 is 2.5, of which 0.4 are 1. In the last group a value is missing.
    case("attack/group_sums.sql",
        {"original": values("row_id, x", "(1, 1e0), (2, 3e0), (3, 4e0), (4, 7e0), (5, NULL)"),
            "released": values("row_id, x, g", "(4, 5e0, 2), (3, 5e0, 2), (2, 2e0, 1), (1, 2e0, 1), (5, 9, 3)")},
        **BOTH | {"columns": [(X, [X, col("g")])], "within": 0.3},
        returns="column_name, recovered, records", expect=[("x", 2, 4)]),
    case("attack/group_sums.sql",
        {"original": values("row_id, x, y", "(1, 1e0, 1e0), (2, 3e0, 2e0), (3, 4e0, 3e0), (4, 7e0, 4e0)"),
            "released": values("row_id, x, y", "(4, 5e0, 0), (3, 5e0, 3), (2, 2e0, 0), (1, 2e0, 0)")},
        **BOTH | {"columns": [(X, [X]), (Y, [Y])], "within": 0.41},
        returns="column_name, recovered, records", expect=[("x", 4, 4), ("y", 1, 4)]),
    # The means of 1 and 3, of 5 and 6, of 0 and 4 are 2, 5.5 and 2; the values 2, 4, 2.1, with sd 1.13.
    case("attack/averages.sql", original=values("row_id, x", "(1, 2e0), (2, 4e0), (3, 2.1e0), (4, NULL)"),
        first=values("row_id, x", "(1, 1e0), (2, 5e0), (3, 0e0), (4, 1e0)"),
        second=values("row_id, x", "(3, 4e0), (2, 6e0), (1, 3e0), (4, 1e0)"), released=rel("first"), alone="r1",
        others=[("r2", rel("second"))], columns=[X], within=0.9,
        returns="column_name, recovered, alone, records", expect=[("x", 2, 2, 3)]),
    # Of the classes of two, (a) has one value, NULL twice; (b) has a value and NULL. The class of one always has one.
    case("attack/class_values.sql",
        written=values("name, v", "('a', NULL), ('a', NULL), ('b', 1), ('b', NULL), (NULL, 3)"),
        relation=rel("written"), columns=[NAME], sensitive=col("v"),
        returns="size, classes, records", ordered=True, expect=[(1, 1, 1), (2, 2, 2)]),
    case("attack/value_sizes.sql", written=values("v", "(1), (NULL), (1), (2), (NULL), (1)"), relation=rel("written"),
        column=col("v"),
        returns="records", ordered=True, expect=[(1,), (2,), (3,)]),
    # First {1, 2}, {3, 4}; second {1, 3, 4, 5}, {2}: 1 is left with itself, 2 too, 3 and 4 with each other.
    case("attack/intersections.sql", first=values("row_id, x, y", "(1, 1, NULL), (2, 1, NULL), (3, 1, 2), (4, 1, 2)"),
        second=values("row_id, name", "(5, NULL), (2, 'b'), (1, NULL), (3, NULL), (4, NULL)"), columns=[X, Y],
        others=[NAME],
        returns="before, after, size, records", ordered=True, expect=[(2, 1, 1, 1), (2, 4, 1, 1), (2, 4, 2, 2)]),
    # A class that both have cancels; NULL is a value of its own.
    case("attack/class_totals.sql", first=values('x, "net ""income"""', "(1e0, 2e0), (1e0, 2e0), (NULL, 2e0)"),
        second=values("x, size_", "(1e0, 2e0), (3e0, NULL), (NULL, 2e0)"), columns=[X, INCOME], others=[X, SIZE],
        returns="x1, x2, before, after", ordered=True, expect=[(1.0, 2.0, 2, 1), (3.0, None, 0, 1), (None, 2.0, 1, 1)]),
    # Two columns, NULL the last; nobody is a person too.
    case("attack/persons.sql",
        released=values("person_1, person_2", "(7, 'b'), (NULL, NULL), (7, 'a'), (NULL, NULL), (7, 'b')"),
        relation=rel("released"), person=[col("p", "INTEGER", "person_1"), col("q", "BLOB", "person_2")],
        returns="person", ordered=True, expect=[(1,), (2,), (0,), (2,), (1,)]),
    # The release is matched by id, NULL too; 9 is not in the original: of nobody, who is one person.
    case("attack/with_persons.sql",
        {"original": values('id, "net ""income"""', "(1, 50), (2, 50), (3, 20), (NULL, 20)"),
            "released": values("id, size", "(3, 1), (9, 2), (1, 3), (NULL, 4), (2, 5)")},
        **BOTH | {"columns": [col("id", "INTEGER"), col("size", "INTEGER", "size_")], "match": [col("id", "INTEGER")],
            "person": [col('net "income"', "INTEGER", "person_1")], "number": "person_0"},
        returns="id, size, person_0", expect=[(3, 1, 1), (9, 2, None), (1, 3, 2), (None, 4, 1), (2, 5, 2)]),
    case("attack/class_codes.sql",
        values=values("x, y, name", "(1, 2, 'b'), (NULL, 2, 'a'), (1, 2, NULL), (0, 2, 'b')"), relation=rel("values"),
        columns=[X, Y], sensitive=NAME,
        returns="label, code", ordered=True, expect=[(1, 1), (2, 0), (1, 2), (0, 1)]),
    # Person a has records 1 and 2, b has 3, c has 4. Classes of the first {1, 2} of one person, {3, 4} of two; of the
    # second {1, 3} of a and b, {2} of a, {4} of c; record 5 is in one release only.
    case("attack/person_intersections.sql",
        original=values("row_id, person_1", "(1, 'a'), (2, 'a'), (3, 'b'), (4, 'c'), (5, 'd')"),
        first=values("row_id, x, y", "(1, 1, NULL), (2, 1, NULL), (3, 1, 2), (4, 1, 2)"),
        second=values("row_id, name", "(5, NULL), (2, 'b'), (1, NULL), (3, NULL), (4, 'c')"),
        person=[col("p", "BLOB", "person_1")], columns=[X, Y], others=[NAME],
        returns="before, after, size, records", ordered=True, expect=[(1, 1, 1, 1), (2, 1, 1, 1), (2, 3, 1, 1)]),
    # Record 1 is not released; nobody's record has no pseudonym.
    case("attack/with_pseudonyms.sql", original=values("row_id, x, p", "(0, 1, 7), (1, 2, 7), (2, 3, NULL)"),
        released=values("row_id, x, p", "(2, 9, NULL), (0, 9, 'c0ffee')"), columns=[X],
        pseudonyms=[col("p", "VARCHAR")],
        returns="x, p, n", expect=[(1, "c0ffee", 1), (3, None, 1)]),
]
