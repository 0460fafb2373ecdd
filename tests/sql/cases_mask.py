"""Row tests of sql/mask/."""

from __future__ import annotations

from .case import Case, col, rel, values

INCOME = col('net "income"', "INTEGER")

CASES = [
    Case(
        "mask/constants.sql",
        given={"typed": values('row_id, "net ""income""", name', "(1, 10, 'a')", "(0, NULL, 'b')")},
        params={"relation": rel("typed"), "columns": [INCOME, col("name")], "value": "it's gone"},
        returns=["row_id", 'net "income"', "name"],
        expect=[(0, "it's gone", "it's gone"), (1, "it's gone", "it's gone")],
    ),
]
