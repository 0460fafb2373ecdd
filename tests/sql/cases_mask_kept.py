"""Row tests of the templates of sql/mask/ for masks that keep guarantees of whole classes."""

from __future__ import annotations

from .case import case, col, rel, values

INCOME = col('net "income"', "INTEGER")
RECORDS = 'row_id, "net ""income""", land'

# fmt: off
CASES = [
    case("mask/cells_of_records.sql",
        typed=values(f"{RECORDS}, w",
            "(2, NULL, 'b', 1.5e0), (0, 10, 'b', 'NaN'::DOUBLE), (1, NULL, 'b', NULL), (3, 10, 'a', 4e0)"),
        cells=values('cell, "net ""income""", land', "(0, 10, 'a'), (1, NULL, 'b'), (2, 10, 'b')"),
        relation=rel("typed"), columns=[INCOME, col("land")], weights=[col("w")],
        returns="row_id, cell, weight", ordered=True, expect=[(0, 2, 0.0), (1, 1, 0.0), (2, 1, 1.5), (3, 0, 4.0)]),
    # As mask/cell_codes.sql, record by record; a weight that says nothing counts nothing.
    case("mask/record_codes.sql",
        typed=values(f"{RECORDS}, w",
            "(2, NULL, 'b', 1.5e0), (0, 10, 'b', 'NaN'::DOUBLE), (1, -5, NULL, NULL), (3, 10, 'a', 4e0)"),
        relation=rel("typed"), columns=[INCOME, col("land")], weights=[col("w")],
        returns='row_id, net "income", land, weight', ordered=True,
        expect=[(0, 1, 1, 0.0), (1, 0, -1, 0.0), (2, -1, 1, 1.5), (3, 1, 0, 4.0)]),
    case("mask/suppressed_records.sql", typed=values(RECORDS, "(0, 10, 'b'), (1, 20, 'a'), (2, NULL, 'a')"),
        chosen=values("row_id, hidden_0, hidden_1", "(1, true, true), (0, true, false), (2, false, false)"),
        relation=rel("typed"), columns=[(INCOME, "hidden_0"), (col("land"), "hidden_1")],
        returns='row_id, net "income", land', expect=[(0, None, "b"), (1, None, None), (2, None, "a")]),
    # (20, a) has one member only, so 20 is no value; 7 is one, though no record has it.
    case("mask/population_codes.sql", records=values(RECORDS, "(1, 10, 'b'), (0, NULL, 'a')"),
        cells=values('"net ""income""", land, size', "(10, 'a', 2), (20, 'a', 1), (7, NULL, 3)"),
        population=rel("cells"), columns=[INCOME, col("land")], k=2,
        returns='row_id, net "income", land', expect=[(0, -1, 0), (1, 1, 1), (-1, 1, 0), (-1, 0, -1)]),
    case("mask/exchanged.sql", typed=values(RECORDS, "(0, 10, 'b'), (1, 20, 'a'), (2, NULL, 'a')"),
        sources=values("row_id, source", "(0, 1), (1, 0), (2, 2)"), relation=rel("typed"), column=INCOME,
        returns="row_id, value", expect=[(0, 20), (1, 10), (2, None)]),
]
