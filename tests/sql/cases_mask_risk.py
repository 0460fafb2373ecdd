"""Row tests of the templates in sql/mask/ that treat records by their risk."""

from __future__ import annotations

import duckdb

from .case import case, col, rel, values

INCOME, TOWN = col('net "income"', "INTEGER"), col("town", "VARCHAR")
FIVE = values('row_id, record, "net ""income""", town', "(0, 7, 10, 'a')", "(1, 8, NULL, 'b')", "(2, 9, 30, NULL)")


def key(*texts):
    """Return the hash that DuckDB makes of a key."""
    marks = ", ".join("?" for _ in texts)
    return duckdb.execute(f"SELECT hash({marks})", list(texts)).fetchall()[0][0]


# fmt: off
CASES = [
    # Of record 1 there is no risk, of record 2 it was not measured; that of key (9, z) is of nobody.
    case("mask/record_measures.sql",
        original=values("row_id, key_0", f"(0, {key('5', 'x')}::UBIGINT)", f"(1, {key('6', 'x')})",
            f"(2, {key('7', 'y')})"),
        risks=values('"net ""income""", town, r', "(5, 'x', 0.5), (7, 'y', NULL), (9, 'z', 1.0)"),
        key=['net "income"', "town"], identity="key_0", measure="r",
        returns="row_id, measure, known", expect=[(0, 0.5, True), (1, None, False), (2, None, False)]),
    # Unit 0 has the records 0 and 2.
    case("mask/at_risk.sql", measures=values("row_id, measure", "(0, 0.2::DOUBLE), (1, 0.2), (2, 0.5), (3, 0.1)"),
        members=values("row_id, unit", "(0, 0), (1, 1), (2, 0), (3, 3)"), above=[0.1], at_least=[], below=[],
        at_most=[0.4],
        returns="row_id, measure", expect=[(0, 0.2), (1, 0.2)]),
    case("mask/at_risk.sql", measures=values("row_id, measure", "(0, 0.2::DOUBLE), (1, 0.2), (2, 0.5)"),
        members=values("row_id, unit", "(0, 0), (1, 1), (2, 0)"), above=[], at_least=[0.2], below=[1.0], at_most=[],
        returns="row_id, measure", expect=[(0, 0.5), (1, 0.2)]),
    case("mask/each_alone.sql", records=values("row_id", "(4), (2)"), relation=rel("records"),
        returns="row_id, unit", expect=[(4, 4), (2, 2)]),
    case("mask/treated.sql", records=FIVE, chosen=values("row_id", "(0), (2), (5)"), relation=rel("records"),
        returns='row_id, record, net "income", town', expect=[(0, 7, 10, "a"), (2, 9, 30, None)]),
    # What is chosen and got no value, has none.
    case("mask/untreated.sql", records=FIVE, chosen=values("row_id", "(0), (2)"),
        new=values("row_id, v", "(0, 11.5::DOUBLE), (1, 99)"), relation=rel("records"), values=rel("new"),
        column=INCOME, name="v",
        returns="row_id, value", expect=[(0, 11.5), (1, None), (2, None)]),
    case("mask/taken_out.sql", records=FIVE, chosen=values("row_id", "(0)"), relation=rel("records"), columns=[INCOME],
        others=["town"],
        returns='row_id, record, net "income", town', expect=[(0, 7, None, "a"), (1, 8, None, "b"), (2, 9, 30, None)]),
    # In region 1 two persons have the town a; in its part 11 only one. Household 0 has records 0 and 3.
    case("mask/region_risks.sql",
        records=values("row_id, town, l, s",
            "(0, 'a', 1, 11), (1, 'a', 1, 12), (2, NULL, 2, 21), (3, 'b', 2, 21), (4, NULL, 2, 21)"),
        members=values("row_id, unit", "(0, 0), (1, 1), (2, 2), (3, 0), (4, 4)"), relation=rel("records"),
        levels=[[TOWN, col("l", "INTEGER")], [TOWN, col("l", "INTEGER"), col("s", "INTEGER")]],
        returns="row_id, risk_1, risk_2", ordered=True,
        expect=[(0, 1.0, 1.0), (1, 0.5, 1.0), (2, 0.5, 0.5), (4, 0.5, 0.5)]),
    case("mask/unit_sizes.sql", drawn=values("row_id, draw_1, draw_2", "(3, 7, 8), (0, 5, 6)"),
        members=values("row_id, unit", "(0, 0), (1, 0), (2, 0), (3, 3)"), draws=["draw_1", "draw_2"],
        returns="row_id, members, draw_1, draw_2", ordered=True, expect=[(0, 3, 5, 6), (3, 1, 7, 8)]),
]  # fmt: skip
