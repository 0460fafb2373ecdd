"""Row tests of the templates of erasure: worked by hand."""

from __future__ import annotations

from .case import case, sql, values

REPLACED = values("value, distinctive", "('Zacharias', true)", "('Bo', false)", "('17', false)")

# fmt: off
CASES = [
    # 'Bo' is still there and NULL is no value; 17 and 17.0 are the same number; a text of six bytes is distinctive.
    case("erasure/replaced_values.sql",
        original=values("name", "('Zoë-Anne'), ('Émile'), ('Bo'), ('Bo'), ('Al'), (NULL)"),
        released=values("nom", "('Bo'), (NULL)"), column="name", released_column="nom", kind="VARCHAR", least=6,
        returns="value, distinctive", expect=[("Zoë-Anne", True), ("Émile", True), ("Al", False)]),
    case("erasure/replaced_values.sql", original=values("age", "(17), (18), (12345678)"),
        released=values("age", "(17.0::DOUBLE), (18.5)"), column="age", released_column="age", kind="DOUBLE", least=8,
        returns="value, distinctive", expect=[("18", False), ("12345678", True)]),
    case("erasure/dropped_values.sql", original=values("name", "('Zacharias'), ('Bo'), ('Bo'), (NULL)"), column="name",
        least=6,
        returns="value, distinctive", expect=[("Zacharias", True), ("Bo", False)]),
    # In a column of another name only what is distinctive counts: two of three records; else also the third.
    case("erasure/occurrences.sql", replaced=REPLACED,
        relation=values("who", "('Zacharias'), ('Zacharias'), ('Bo'), ('Al')"), column="who", kind="VARCHAR",
        same_name=False,
        returns="present, records", expect=[(1, 2)]),
    case("erasure/occurrences.sql", replaced=REPLACED,
        relation=values("who", "('Zacharias'), ('Zacharias'), ('Bo'), ('Al')"), column="who", kind="VARCHAR",
        same_name=True,
        returns="present, records", expect=[(2, 3)]),
    # A label, names of fields, a text in a list, the key of a map; not the numbers of places in a list.
    case("erasure/nested_texts.sql",
        relation=sql(
            "SELECT {'grade': 'low'::ENUM('low', 'high'), 'of': ['x', NULL], 'by': MAP {'k': 1}} AS c "
                "UNION ALL SELECT NULL"),
        column="c",
        returns="text", expect=[(None,), ("grade",), ("low",), ("of",), ("x",), ("by",), ("k",)]),
    case("erasure/held_literals.sql", relation=values("name, age", "('Bo', 31), ('Bo', NULL), ('Al', 31)"),
        columns=["name", "age"], literals=["Bo", "31", "Zacharias"],
        returns="literal", expect=[("Bo",), ("31",)]),
]  # fmt: skip
