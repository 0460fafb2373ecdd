"""Row tests of sql/mask/ but recoding."""

from __future__ import annotations

import hmac
from hashlib import sha256
from math import ceil, cos, exp, floor, log, pi, sqrt
from statistics import NormalDist

import pytest

from .case import KEY, Case, case, col, keyed, rel, sql, values

X, INCOME, LAND, TOWN = col("x"), col('net "income"', "INTEGER"), col("land", "VARCHAR"), col("town", "VARCHAR")


def draw(stream, row_id):
    """Return 60 bits at random: those of a hash of a name and a number."""
    return int(sha256(f"{stream} {row_id}".encode()).hexdigest()[:15], 16)


def drawn(select, row_ids, *streams):
    """Write the SELECT of rows with the draws of some streams: draw_1, draw_2, …"""
    columns = [
        f"CASE row_id {' '.join(f'WHEN {i} THEN {draw(stream, i)}' for i in row_ids)} END AS draw_{number}"
        for number, stream in enumerate(streams, 1)
    ]
    return sql(f"SELECT *, {', '.join(columns)} FROM ({select})")


def deviate(stream, row_id):
    """Return a normal deviate (Box & Muller 1958)."""
    radius, angle = divmod(draw(stream, row_id), 2**28)
    return sqrt(-2 * log((radius + 0.5) / 2**32)) * cos(2 * pi * angle / 2**28)


def uniform(stream, row_id):
    """Return a sign and a uniform deviate of 59 bits."""
    bits, sign = divmod(draw(stream, row_id), 2)
    return 1 if sign else -1, (bits + 0.5) / 2**59


def laplace(x, stream, row_id):
    """Return a value within 0 and 10 with noise of scale 5, as a multiple of 8."""
    sign, u = uniform(stream, row_id)
    return 8.0 * floor((min(max(x, 0), 10) + sign * 5 * log(u)) / 8 + 0.5)


def geometric(x, stream, row_id):
    """Return a value within 0 and 10 with two-sided geometric noise, by adding up the probabilities."""
    sign, u = uniform(stream, row_id)
    a, magnitude = exp(-0.5), 0
    while 2 * a ** (magnitude + 1) / (1 + a) >= u:
        magnitude += 1
    return min(max(x, 0), 10) + sign * magnitude


def by_draw(stream, row_ids):
    """Order numbers of records by their draws."""
    return sorted(row_ids, key=lambda row_id: draw(stream, row_id))


def permuted(seats, draws, rows):
    """Return rows (row_id, value…): the record that is r-th by one stream gets the values of the r-th by another."""
    found = {row_id: rest for row_id, *rest in rows}
    return [(a, *found[b]) for a, b in zip(by_draw(seats, found), by_draw(draws, found), strict=True)]


def in_circle(stream, rows):
    """Return rows (row_id, value…) of which each has the value of the next by draw."""
    order = by_draw(stream, [row_id for row_id, *_ in rows])
    found = {row_id: rest for row_id, *rest in rows}
    return [(row_id, *found[after]) for row_id, after in zip(order, [*order[1:], order[0]], strict=True)]


def scores(stream, *groups):
    """Return (row_id, normal score) of groups of equal values, ascending."""
    order = [row_id for group in groups for row_id in by_draw(stream, group)]
    quantile = NormalDist().inv_cdf
    return {i: pytest.approx(quantile((r + 0.5) / len(order)), rel=3e-9) for r, i in enumerate(order)}


FIVE = values(
    'row_id, "net ""income""", land',
    *("(0, 10, 'a')", "(1, 50, 'a')", "(2, NULL, 'a')", "(3, 30, NULL)", "(4, 20, NULL)"),
)
SIXTY = 2**60
EDGES = [int(sha256(f"{KEY} blocks".encode()).hexdigest()[i : i + 8], 16) / 2**33 for i in (0, 8)]
STREAM = "sqlmicro_order"
"""A variable that has the key KEY."""

# fmt: off
CASES = [
    case("mask/constants.sql",
        typed=values('row_id, "net ""income""", name, code', "(1, 10, 'a', 1), (0, NULL, 'b', 2)"),
        relation=rel("typed"), value="-7",
        columns=[(INCOME, "VARCHAR"), (col("name"), "VARCHAR"), (col("code"), "SMALLINT")],
        returns='row_id, net "income", name, code', expect=[(0, "-7", "-7", -7), (1, "-7", "-7", -7)]),
    case("mask/constants.sql", typed=values("row_id, name", "(1, 'a'), (0, NULL)"), relation=rel("typed"),
        columns=[(col("name"), "VARCHAR")], value="it's gone",
        returns="row_id, name", expect=[(0, "it's gone"), (1, "it's gone")]),
    case("mask/nulls.sql", typed=values('row_id, "net ""income""", name', "(1, 10, 'a'), (0, NULL, 'b')"),
        relation=rel("typed"), columns=[INCOME, col("name")],
        returns='row_id, net "income", name',
        show='row_id, typeof("net ""income""") AS type, typeof(name), "net ""income""", name',
        expect=[(0, "INTEGER", "VARCHAR", None, None), (1, "INTEGER", "VARCHAR", None, None)]),
    # 7 of 10: shares 2.8, 2.8, 1.4 of the strata of 4, 4, 2; the first two get one more.
    case("mask/sample_sizes.sql",
        typed=values("row_id, land",
            *(f"({i}, {land})" for i, land in enumerate(["'a'"] * 4 + ["NULL"] * 4 + ["'b'"] * 2))),
        relation=rel("typed"), by=[LAND], size=7,
        returns="land, records, size, high", expect=[("a", 4, 3, SIXTY), (None, 4, 3, SIXTY), ("b", 2, 1, SIXTY)]),
    case("mask/sample_sizes.sql", typed=values("row_id, land", "(0, 'a'), (1, 'b'), (2, 'b')"), relation=rel("typed"),
        by=[], size=2,
        returns="records, size, high", expect=[(3, 2, SIXTY)]),
    # (100 + 12 x 10 + 144) / 728 of the draws.
    case("mask/sample_sizes.sql", typed=sql("SELECT i AS row_id FROM range(728) AS t(i)"), relation=rel("typed"), by=[],
        size=100,
        returns="records, size, high", expect=[(728, 100, SIXTY // 2)]),
    # 2 of 3 and 0 of 2: the two smallest hashes of the stratum a, weight 3/2.
    case("mask/sampled.sql", drawn=drawn(FIVE, range(5), "a"),
        sizes=values("land, records, size, high", f"('a', 3, 2, {SIXTY})", f"(NULL, 2, 0, {SIXTY})"), by=[LAND],
        weight=col("w"),
        returns="row_id, w", expect=[(row_id, 1.5) for row_id in by_draw("a", [0, 1, 2])[:2]]),
    case("mask/sampled_alone.sql", drawn=values("row_id, draw_1", "(0, 0), (1, 499), (2, 500), (3, 999)"), high=500,
        share=0.5, weight=col("w"), returns="row_id, w", expect=[(0, 2.0), (1, 2.0)]),
    case("mask/thresholds_by_value.sql", typed=FIVE, relation=rel("typed"), by=[LAND], threshold=30,
        returns="land, threshold", expect=[("a", 30), (None, 30)]),
    case("mask/thresholds_by_value.sql", typed=FIVE, relation=rel("typed"), by=[], threshold=30.5,
        returns="threshold", expect=[(30.5,)]),
    # 10 20 30 50: the median is the second, a value that occurs.
    case("mask/thresholds_by_quantile.sql", typed=FIVE, relation=rel("typed"), by=[], column=INCOME, quantile=0.5,
        returns="threshold", expect=[(20,)]),
    case("mask/thresholds_by_quantile.sql", typed=FIVE, relation=rel("typed"), by=[LAND], column=INCOME, quantile=0.9,
        returns="land, threshold", expect=[("a", 50), (None, 30)]),
    # The second from the top of 10 20 30 50; from the bottom of 10 50 and 20 30.
    case("mask/thresholds_by_count.sql", typed=FIVE, relation=rel("typed"), by=[], column=INCOME, count=2, top=True,
        returns="threshold", expect=[(30,)]),
    case("mask/thresholds_by_count.sql", typed=FIVE, relation=rel("typed"), by=[LAND], column=INCOME, count=2,
        top=False,
        returns="land, threshold", expect=[("a", 50), (None, 30)]),
    # 20 30 50: the mean is 100/3.
    case("mask/tails.sql", typed=FIVE, thresholds=values("threshold", "(20)"), relation=rel("typed"), by=[],
        column=INCOME, top=True,
        returns="threshold, records, mean, median", expect=[(20, 3, 100 / 3, 30.0)]),
    # At or below: 10; none of 20 and 30 in the stratum NULL.
    case("mask/tails.sql", typed=FIVE, thresholds=values("land, threshold", "('a', 15), (NULL, 15)"),
        relation=rel("typed"), by=[LAND], column=INCOME, top=False,
        returns="land, threshold, records, mean, median", expect=[("a", 15, 1, 10.0, 10.0)]),
    case("mask/tail_values.sql", typed=FIVE,
        tails=values("land, threshold, records, mean, median", "('a', 50, 1, 55e0, 60e0)"), relation=rel("typed"),
        by=[LAND], column=INCOME, top=True, replacement="mean",
        returns="row_id, value", expect=[(0, 10.0), (1, 55.0), (2, None), (3, 30.0), (4, 20.0)]),
    case("mask/tail_values.sql", typed=FIVE, tails=values("threshold, records", "(20, 2)"), relation=rel("typed"),
        by=[], column=INCOME, top=False, replacement="threshold",
        returns="row_id, value", expect=[(0, 20), (1, 50), (2, None), (3, 30), (4, 20)]),
    case("mask/tail_labels.sql", typed=FIVE, tails=values("threshold, records", "(30, 2)"), relation=rel("typed"),
        by=[], column=INCOME, top=True, label="30+",
        returns="row_id, value", expect=[(0, "10"), (1, "30+"), (2, None), (3, "30+"), (4, "20")]),
    case("mask/extents.sql", typed=values('x, "net ""income"""', "(1.5e0, NULL), (NULL, NULL), (-2e0, NULL)"),
        relation=rel("typed"), columns=[X, INCOME],
        returns="low_1, width_1, low_2, width_2", expect=[(-2.0, 3.5, None, None)]),
    # 2 (x + 3 u) + 1 and 2 (income + u + 0.5 v): two deviates of each record.
    case("mask/normal_noise.sql",
        drawn=drawn(values('row_id, x, "net ""income"""', "(0, 1.5e0, 10), (7, NULL, 20)"), [0, 7], "a", "b"),
        draws=["draw_1", "draw_2"], terms=[(X, 2.0, 1.0, [3.0, 0.0]), (INCOME, 2.0, 0.0, [1.0, 0.5])],
        returns='row_id, x, net "income"',
        expect=[(i, None if x is None else 2 * (x + 3 * deviate("a", i)) + 1,
                2 * (income + deviate("a", i) + 0.5 * deviate("b", i)))
            for i, x, income in [(0, 1.5, 10), (7, None, 20)]]),
    # Scale 5, so a grid of 8; 99 is moved to 10 before.
    case("mask/laplace_noise.sql",
        drawn=drawn(values('row_id, x, "net ""income"""', "(0, 1.5e0, 99), (7, NULL, -3), (9, 4e0, NULL)"),
            *([0, 7, 9], "a", "b")),
        lower=0.0, upper=10.0, scale=5.0, grid=8.0, terms=[(X, "draw_1"), (INCOME, "draw_2")],
        returns='row_id, x, net "income"',
        expect=[(0, laplace(1.5, "a", 0), laplace(99, "b", 0)), (7, None, laplace(-3, "b", 7)),
            (9, laplace(4, "a", 9), None)]),
    case("mask/geometric_noise.sql",
        drawn=drawn(values('row_id, "net ""income""", age', *(f"({i}, {i}, NULL)" for i in range(-2, 14))),
            *(range(-2, 14), "a", "b")),
        lower=0, upper=10, rate=0.5, half=(1 + exp(-0.5)) / 2, terms=[(INCOME, "draw_1"), (col("age"), "draw_2")],
        returns='row_id, net "income", age', expect=[(i, geometric(i, "a", i), None) for i in range(-2, 14)]),
    # 60 records, so that ranks lie in both tails and in the middle; x has two values, and one that is missing.
    case("mask/normal_scores.sql",
        drawn=drawn(
            "SELECT i AS row_id, 'h' || i AS hash_1, CASE WHEN i > 0 THEN i % 2 END::DOUBLE AS x, "
                '-i::INTEGER AS "net ""income""" FROM range(60) AS t(i)', *(range(60), "a", "b")),
        terms=[(X, "draw_1"), (INCOME, "draw_2")],
        returns='row_id, record, x, net "income"',
        expect=[(i, f"h{i}", scores("a", range(2, 60, 2), range(1, 60, 2)).get(i), scores("", *([j] for j in range(59,
            -1, -1)))[i],) for i in range(60)]),
    # Scores 2 < 0 < 3 < 1, incomes 10 20 30 50.
    case("mask/values_by_rank.sql", typed=FIVE,
        scores=values('row_id, "net ""income"""', "(0, 0e0), (1, 9e0), (2, NULL), (3, 3e0), (4, -1e0)"),
        relation=rel("typed"), column=INCOME,
        returns="row_id, value", expect=[(4, 10), (0, 20), (3, 30), (1, 50)]),
    case("mask/ordered.sql", drawn=drawn(FIVE, range(5), "a"), by=[LAND], column=INCOME,
        returns="land, row_id, value, draw", ordered=True,
        expect=[(land, i, x, draw("a", i) // 2**30) for land, i, x in [("a", 0, 10), ("a", 1, 50), (None, 4, 20),
            (None, 3, 30)]]),
    # Within strata; and where records are numbered in the order of the value. Who has none is left out.
    *(
        case(template, {"typed": f"SELECT *, 7 + row_id AS record FROM ({given})"}, relation=rel("typed"),
            column=INCOME, **by,
            returns="row_id, value, drawn_for", show="row_id, value, drawn_for = hash(7 + row_id, value)", ordered=True,
            expect=[(i, x, True) for i, x in expect])
        for template, given, by, expect in [
            ("mask/ranked.sql", FIVE, {"by": [LAND]}, [(0, 10), (1, 50), (4, 20), (3, 30)]),
            (
                "mask/in_order.sql",
                values('row_id, "net ""income"""', "(0, -5)", "(1, 10)", "(2, NULL)"),
                *({}, [(0, -5), (1, 10)]),
            ),
        ]
    ),
    # Numbers of 60 bits of sha256(key, hash(key, record, values)): two of the first hash, one of the second.
    case("mask/draws.sql", typed=values("row_id, record, town", "(0, 5, 'p'), (1, 6, NULL)"), relation=rel("typed"),
        streams=[(STREAM, [TOWN]), (STREAM, [])],
        draws=[("draw_1", "hash_1", 1), ("draw_2", "hash_1", 16), ("draw_3", "hash_2", 1)],
        returns="row_id, record, town, hash_1, hash_2, draw_1, draw_2, draw_3",
        expect=[(i, record, town, one, two, int(one[:15], 16), int(one[15:30], 16), int(two[:15], 16))
            for i, record, town, one, two in [
            (0, 5, "p", keyed(5, "'p'"), keyed(5)), (1, 6, None, keyed(6, "CAST(NULL AS VARCHAR)"), keyed(6))]]),
    # Of 10 at most 30 %, so blocks of 4 at most: 2.5 of these and the shares cut off, rounded up. Of 2 none.
    Case(
        "mask/rank_blocks.sql",
        given={
            "ordered": "SELECT CASE WHEN i < 10 THEN 'a' END AS land, i AS row_id, i AS value FROM range(12) AS t(i)"
        },
        params={"ordered": rel("ordered"), "by": [LAND], "stream": STREAM, "percent": 30.0},
        returns=["land", "first_position", "n", "phase", "remainder", "total"],
        expect=[
            (land, first, n, *EDGES, ceil(blocks + sum(EDGES)) - sum(EDGES))
            for land, first, n, blocks in [("a", 0, 10, 10 / 3.999), (None, 10, 2, 2 / 0.999)]
        ],
    ),
    # total 2.5, phase 0.5: length 4, so 0 1 | 2 3 4 5 | 6 7 8 9; in the second stratum one block.
    Case(
        "mask/scattered.sql",
        given={
            "ordered": "SELECT CASE WHEN i < 10 THEN 'a' END AS land, 100 + i AS row_id, i AS value, "
            "[5, 2, 9, 8, 7, 7, 1, 2, 3, 4, 1, 0][i + 1] AS draw FROM range(12) AS t(i)",
            "blocks": values(
                "land, first_position, n, phase, total", "('a', 0, 10, 0.5e0, 2.5e0)", "(NULL, 10, 2, 0.5e0, 0.5e0)"
            ),
        },
        params={"ordered": rel("ordered"), "blocks": rel("blocks"), "by": [LAND]},
        returns=["row_id", "value", "block"],
        expect=[
            *((101, 1, 0), (100, 0, 0)),
            *((104, 4, 2), (105, 5, 2), (103, 3, 2), (102, 2, 2)),
            *((106, 6, 6), (107, 7, 6), (108, 8, 6), (109, 9, 6)),
            *((111, 11, 10), (110, 10, 10)),
        ],
        ordered=True,
    ),
    # Pairs 0-1 and 2-3; 4 is alone in its block of 3, as is the block of one.
    case("mask/rank_swapped.sql",
        scattered=values("row_id, value, block",
            *(f"({i}, {v}, {b})" for i, v, b in [(5, 50, 0), (6, 60, 0), (7, 70, 2), (8, 80, 2), (9, 90, 2),
                (1, 10, 5)])),
        returns="row_id, value", expect=[(5, 60), (6, 50), (7, 80), (8, 70), (9, 90), (1, 10)]),
    # All take part; those of a stratum that have both values, and those that have the income alone.
    case("mask/swapped.sql",
        drawn=drawn(values('row_id, "net ""income""", town, land',
            "(0, 10, 'p', 'a'), (1, 20, 'q', 'a'), (2, 30, 'r', 'a'), (3, 40, NULL, 'a'), (4, 50, NULL, 'a')",
            "(5, 60, 's', NULL)"), *(range(6), "a")),
        by=[LAND], columns=[INCOME, TOWN], share=SIXTY,
        returns='row_id, net "income", town',
        expect=[*in_circle("a", [(0, 10, "p"), (1, 20, "q"), (2, 30, "r")]),
            *in_circle("a", [(3, 40, None), (4, 50, None)]), (5, 60, "s")]),
    # Those with a draw below the third smallest of six.
    case("mask/swapped.sql", drawn=drawn(values("row_id, town", *(f"({i}, 't{i}')" for i in range(6))), range(6), "a"),
        by=[], columns=[TOWN], share=draw("a", by_draw("a", range(6))[2]),
        returns="row_id, town",
        expect=[*in_circle("a", [(i, f"t{i}") for i in by_draw("a", range(6))[:2]]),
            *((i, f"t{i}") for i in by_draw("a", range(6))[2:])]),
    case("mask/shuffled.sql",
        drawn=drawn(values('row_id, "net ""income""", town, land',
            "(0, 10, 'p', 'a'), (1, 20, 'q', 'a'), (2, 30, 'r', 'a'), (3, 40, NULL, 'a'), (4, 50, NULL, 'a')",
            "(5, 60, 's', NULL), (6, 70, 't', NULL)"), *(range(7), "a", "b")),
        by=[LAND], columns=[INCOME, TOWN],
        returns='row_id, net "income", town',
        expect=[*permuted("a", "b", [(0, 10, "p"), (1, 20, "q"), (2, 30, "r")]),
            *permuted("a", "b", [(3, 40, None), (4, 50, None)]), *permuted("a", "b", [(5, 60, "s"), (6, 70, "t")])]),
    case("mask/categories.sql", typed=values("row_id, town", "(0, 'q'), (1, 'p'), (2, NULL), (3, 'q')"),
        relation=rel("typed"), column=TOWN,
        returns="label, value, records", expect=[(1, "p", 1), (2, "q", 2)]),
    # 9 is no value of the table; a name that is no whole number is none at all.
    case("mask/categories_as_given.sql", typed=FIVE, relation=rel("typed"), column=INCOME,
        names=["30", "9", "it's", "10"], type="INTEGER",
        returns="label, value, records", expect=[(1, 30, 1), (2, 9, 0), (3, None, 0), (4, 10, 1)]),
    case("mask/transitions.sql", categories=values("label, value, records", "(1, 'p', 1), (2, 'q', 2), (3, 'r', 9)"),
        keep=0.5,
        returns="source, target, probability",
        expect=[(a, b, 0.5 if a == b else 0.25) for a in (1, 2, 3) for b in (1, 2, 3)]),
    case("mask/transitions_as_given.sql", matrix=[[0.9, 0.1], [1.0, 0.0]],
        returns="source, target, probability", expect=[(1, 1, 0.9), (1, 2, 0.1), (2, 1, 1.0), (2, 2, 0.0)]),
    # t = (1, 3)/4, P = (3/4 1/4; 1/2 1/2): tP = (9/16, 7/16), Q = (1/3 2/3; 1/7 6/7), R = PQ; t R = t.
    case("mask/invariant_transitions.sql",
        transitions=values("source, target, probability",
            "(1, 1, 0.75e0), (1, 2, 0.25e0), (2, 1, 0.5e0), (2, 2, 0.5e0)"),
        categories=values("label, value, records", "(1, 'p', 1), (2, 'q', 3)"),
        returns="source, target, probability", expect=[(1, 1, 2 / 7), (1, 2, 5 / 7), (2, 1, 5 / 21), (2, 2, 16 / 21)]),
    # 1/2 and 1/2: 128 bins each; 127/128 + 1/512 and 3/512: the bin they meet in has both. Nothing becomes r.
    case("mask/transition_ranges.sql",
        categories=values("label, value, records", "(1, 'p', 1), (2, 'q', 2), (3, 'r', 2)"),
        transitions=values("source, target, probability",
            "(1, 1, 0.5e0), (1, 2, 0.5e0), (1, 3, 0e0), (2, 2, 0.005859375e0), (2, 1, 0.994140625e0)",
            "(3, 1, 0.3333333333333333e0)"),
        returns="source, target, low, high, bin",
        expect=[*(("p", "p", 0, SIXTY // 2, bin) for bin in range(128)),
            *(("p", "q", SIXTY // 2, SIXTY, bin) for bin in range(128, 256)),
            *(("q", "p", 0, SIXTY // 512 * 509, bin) for bin in range(255)),
            *(("q", "q", SIXTY // 512 * 509, SIXTY, bin) for bin in (254, 255)),
            *(("r", "p", 0, SIXTY, bin) for bin in range(256))]),
    # Records with a draw below the median become p, the others q; a value of its own stays, NULL is left out.
    case("mask/postrandomised.sql",
        drawn=drawn(values("row_id, town", *(f"({i}, 'p')" for i in range(5)), "(5, 'z')", "(6, NULL)"), range(7), "a"),
        ranges=sql(
            "SELECT 'p' AS source, CASE WHEN half THEN 'q' ELSE 'p' END AS target, "
                f"CASE WHEN half THEN {draw('a', by_draw('a', range(5))[2])} ELSE 0 END AS low, "
                f"CASE WHEN half THEN {SIXTY} ELSE {draw('a', by_draw('a', range(5))[2])} END AS high, bin "
                "FROM (VALUES (true), (false)) AS h(half), range(256) AS b(bin) WHERE "
                f"(low >> 52 <= bin AND bin <= (high - 1) >> 52) "
                f"UNION ALL SELECT 'z', 'z', 0, {SIXTY}, bin FROM range(256) AS b(bin)"),
        column=TOWN,
        returns="row_id, value",
        expect=[(i, "p" if r < 2 else "q") for r, i in enumerate(by_draw("a", range(5)))] + [(5, "z")]),
    case("mask/pseudonyms.sql",
        typed=values('row_id, "net ""income""", town, x',
            "(0, 10, 'Ä', 0e0), (1, NULL, NULL, NULL), (2, -5, '', 19000e0)"),
        relation=rel("typed"), columns=[INCOME, TOWN], dates=[X],
        returns='row_id, net "income", town, x',
        expect=[(0, *(hmac.new(b"k" * 80, text.encode(), sha256).hexdigest() for text in ("10", "Ä", "1970-01-01"))),
            (1, None, None, None),
            (2, *(hmac.new(b"k" * 80, text.encode(), sha256).hexdigest() for text in ("-5", "", "2022-01-08")))]),
    case("mask/texts.sql",
        typed=values("row_id, town, x", "(0, 'Ulm', 1), (1, NULL, 2), (2, 'ulm', 3), (3, 'Ulm', NULL)"),
        relation=rel("typed"), column=TOWN, returns="text, n", expect=[("Ulm", 2), ("ulm", 1)]),
    case("mask/by_text.sql", typed=values('row_id, "net ""income"""', "(0, 5), (1, NULL), (2, -5), (3, 5)"),
        texts=values("text, becomes", "('5', 'five'), ('-5', 'less'), ('7', 'seven')"),
        relation=rel("typed"), column=INCOME, returns="row_id, value",
        expect=[(0, "five"), (2, "less"), (3, "five")]),
    case("mask/partial_values.sql",
        typed=values('row_id, town, "net ""income"""',
            "(0, 'Zürich', 123456), (1, 'Ulm', 12), (2, NULL, NULL), (3, '', 1), (4, 'Ölde', -99)"),
        relation=rel("typed"), columns=[TOWN, INCOME], first_shown=1, last_shown=2, character="'",
        returns='row_id, town, net "income"',
        expect=[(0, "Z'''ch", "1'''56"), (1, "'''", "''"), (2, None, None), (3, "", "'"), (4, "Ö'de", "'''")]),
]
