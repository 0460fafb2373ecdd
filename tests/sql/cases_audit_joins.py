"""Row tests of sql/audit/: what somebody sees who holds several releases."""

from __future__ import annotations

from .case import case, col, rel, sql, values

ID, AGE, COST = col("id_1", "VARCHAR"), col("age_2", "INTEGER"), col("cost_3", "INTEGER")
WHOSE, THERE = col("whose_4", "VARCHAR"), col("there_5", "BOOLEAN")
QUOTED = col('net "income"_6')

# fmt: off
CASES = [
    # Visit 1 is a's, visit 2 somebody's who is not there, visit 3 nobody's; b is in the other table twice.
    case("audit/joined.sql", visits=values("cost_3, whose_4, n", "(1, 'a', 1), (2, 'x', 1), (3, NULL, 1), (4, 'b', 1)"),
        persons=values('id_1, age_2, "net ""income""_6", n',
            "('a', 30, 1e0, 1), ('b', 40, 2e0, 1), ('b', 41, 3e0, 1), (NULL, 50, 4e0, 1)"),
        base=rel("visits"), columns=[COST], joined=[("j_1", rel("persons"), [(WHOSE, ID)], [AGE, QUOTED], THERE)],
        returns='cost_3, age_2, net "income"_6, there_5, n',
        expect=[(1, 30, 1.0, True, 1), (2, None, None, False, 1), (3, None, None, False, 1), (4, 40, 2.0, True, 1),
            (4, 41, 3.0, True, 1)]),
    # A key of two columns joins rows that agree in both, whatever their types: 1 and '1' have the same text.
    case("audit/joined.sql", visits=values("cost_3, whose_4, age_2, n", "(1, '1', 5, 1), (2, '1', 6, 1)"),
        persons=sql("SELECT 1 AS id_1, 5 AS age_7, 1 AS n"), base=rel("visits"), columns=[COST],
        joined=[("j_1", rel("persons"), [(WHOSE, ID), (AGE, col("age_7"))], [], THERE)],
        returns="cost_3, there_5, n", expect=[(1, True, 1), (2, False, 1)]),
    # a has 3 rows, one without cost; b one row; the row of nobody is known of nobody.
    case("audit/rows_of_persons.sql",
        visits=values("whose_4, cost_3", "('a', 1), ('a', 4), ('a', NULL), ('b', 7), (NULL, 9)"),
        relation=rel("visits"), keys=[WHOSE], counts=[col("count_7")], sums=[(COST, col("sum_8"))],
        averages=[(COST, col("avg_9"))], least=[(COST, col("min_10"))], greatest=[(COST, col("max_11"))],
        returns="whose_4, count_7, sum_8, avg_9, min_10, max_11, n",
        expect=[("a", 3, 5, 2.5, 1, 4, 1), ("b", 1, 7, 7.0, 7, 7, 1)]),
    # Two equal rows are two persons.
    case("audit/each_a_person.sql", persons=values("age_2", "(30), (30), (NULL)"), relation=rel("persons"),
        person=col("person_7"),
        returns="age_2, person_7", show="count(*), count(DISTINCT person_7)", expect=[(3, 3)]),
    # a and b have cost 1 in common, c has it twice: 3 persons. b alone has 2, and counts with 1. The rows of nobody:
    # the one that is joined with nothing is left out, the other one is of a person who is alone.
    case("audit/alike_persons.sql",
        joined=values("whose_4, cost_3, there_5",
            "('a', 1, true), ('b', 1, true), ('c', 1, true), ('c', 1, true), ('b', 2, true), (NULL, 1, false)",
            "(NULL, 3, true)"),
        relation=rel("joined"), columns=[COST], person=[WHOSE], there=[THERE],
        returns="size, persons", ordered=True, expect=[(1, 2), (3, 2)]),
]  # fmt: skip
