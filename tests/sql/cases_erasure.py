"""Row tests of the templates of erasure: worked by hand."""

from __future__ import annotations

from .case import Case, rel, values

REPLACED = values("value, distinctive", "('Zacharias', true)", "('Bo', false)", "('17', false)")

CASES = [
    # 'Bo' is still there and NULL is no value; 17 and 17.0 are the same number; a text of six bytes is distinctive.
    Case(
        "erasure/replaced_values.sql",
        given={
            "original": values("name", "('Zoë-Anne')", "('Émile')", "('Bo')", "('Bo')", "('Al')", "(NULL)"),
            "released": values("nom", "('Bo')", "(NULL)"),
        },
        params={
            "original": rel("original"), "released": rel("released"), "column": "name", "released_column": "nom",
            "kind": "VARCHAR", "least": 6,
        },
        returns=["value", "distinctive"],
        expect=[("Zoë-Anne", True), ("Émile", True), ("Al", False)],
    ),
    Case(
        "erasure/replaced_values.sql",
        given={
            "original": values("age", "(17)", "(18)", "(12345678)"),
            "released": values("age", "(17.0::DOUBLE)", "(18.5)"),
        },
        params={
            "original": rel("original"), "released": rel("released"), "column": "age", "released_column": "age",
            "kind": "DOUBLE", "least": 8,
        },
        returns=["value", "distinctive"],
        expect=[("18", False), ("12345678", True)],
    ),
    Case(
        "erasure/dropped_values.sql",
        given={"original": values("name", "('Zacharias')", "('Bo')", "('Bo')", "(NULL)")},
        params={"original": rel("original"), "column": "name", "least": 6},
        returns=["value", "distinctive"],
        expect=[("Zacharias", True), ("Bo", False)],
    ),
    # In a column of another name only what is distinctive counts: two of three records; else also the third.
    Case(
        "erasure/occurrences.sql",
        given={"replaced": REPLACED, "relation": values("who", "('Zacharias')", "('Zacharias')", "('Bo')", "('Al')")},
        params={"replaced": rel("replaced"), "relation": rel("relation"), "column": "who", "kind": "VARCHAR",
                "same_name": False},
        returns=["present", "records"],
        expect=[(1, 2)],
    ),
    Case(
        "erasure/occurrences.sql",
        given={"replaced": REPLACED, "relation": values("who", "('Zacharias')", "('Zacharias')", "('Bo')", "('Al')")},
        params={"replaced": rel("replaced"), "relation": rel("relation"), "column": "who", "kind": "VARCHAR",
                "same_name": True},
        returns=["present", "records"],
        expect=[(2, 3)],
    ),
    # A label, names of fields, a text in a list, the key of a map; not the numbers of places in a list.
    Case(
        "erasure/nested_texts.sql",
        given={"relation": "SELECT {'grade': 'low'::ENUM('low', 'high'), 'of': ['x', NULL], 'by': MAP {'k': 1}} AS c "
                           "UNION ALL SELECT NULL"},
        params={"relation": rel("relation"), "column": "c"},
        returns=["text"],
        expect=[(None,), ("grade",), ("low",), ("of",), ("x",), ("by",), ("k",)],
    ),
    Case(
        "erasure/held_literals.sql",
        given={"relation": values("name, age", "('Bo', 31)", "('Bo', NULL)", "('Al', 31)")},
        params={"relation": rel("relation"), "columns": ["name", "age"], "literals": ["Bo", "31", "Zacharias"]},
        returns=["literal"],
        expect=[("Bo",), ("31",)],
    ),
]  # fmt: skip
