"""The figures of the audits of disclosure on one small table, worked by hand; what a gate counts, at its very limit."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import pytest

from sqlmicro.audits.k_anonymity import ClassSizes
from sqlmicro.audits.registry import AuditRow, audits
from sqlmicro.database.templates import all_templates

from .conftest import Audit

TYPES = {"a": "INTEGER", "s": "VARCHAR", "income": "DOUBLE", "w": "DOUBLE"}
# Class 1 has 3 records and weighs 12, class 2 has 2 and weighs 3, class 3 has 1 and weighs 5.
ROWS = [
    (1, "flu", 1.0, 2.0), (1, "flu", 2.0, 4.0), (1, "cold", 2.0, 6.0),
    (2, "flu", 1.0, 1.5), (2, "cold", 4.0, 1.5),
    (3, "cold", 8.0, 5.0),
]  # fmt: skip
# Members of class 1, 2, 3 and of a class that is not in the release.
POPULATION = [(1,)] * 6 + [(2,)] * 2 + [(3,)] * 4 + [(4,)] * 9
SINGLE = ["k-anonymity", "sample-uniques", "prosecutor-risk", "marketer-risk"]
DIVERSITY = ["l-diversity", "entropy-l-diversity", "recursive-l-diversity"]
CLOSENESS = ["t-closeness", "alpha-k-anonymity", "beta-likeness"]


def holds(row: dict[str, Any], **expected: Any) -> None:
    for name, value in expected.items():
        assert row[name] == (pytest.approx(value) if isinstance(value, float) else value), (row["check"], name)


def test_sizes_of_classes() -> None:
    sizes = ClassSizes({1: (4, 4), 2: (1, 2), 5: (2, 10)})
    assert (sizes.k, sizes.records, sizes.classes, sizes.histogram) == (1, 16, 7, {1: 4, 2: 1, 5: 2})
    assert sizes.average_risk == (4 + 2 / 2 + 10 / 5) / 16
    assert [sizes.below(k) for k in (1, 2, 3, 5, 6)] == [(0, 0), (4, 4), (5, 6), (5, 6), (7, 16)]
    assert ClassSizes({1: (1, 1)}).average_risk == 1
    nothing = ClassSizes({})
    assert (nothing.k, nothing.records, nothing.average_risk, nothing.below(3)) == (0, 0, 0, (0, 0))


def test_classes_of_3_2_and_1(audit: Audit) -> None:
    table = {"release": (TYPES, ROWS)}
    found = audit(table, SINGLE, quasi=["a"], min_k=3, max_prosecutor=0.4)
    holds(found["k-anonymity"][0], value=1, records=6, classes=3, violating_classes=2, violating_records=3)
    assert found["k-anonymity"][0]["histogram"] == {1: 1, 2: 1, 3: 1}
    holds(found["sample-uniques"][0], value=1, share=1 / 6, twice=2, records=6)
    holds(found["prosecutor-risk"][0], value=1.0, average=0.5, share_above=0.5)
    # Three classes over six records.
    holds(found["marketer-risk"][0], value=0.5, records=6)
    assert found["marketer-risk"][0]["in"] == "release"
    # Without a gate nothing lies beyond it; a risk of 1/2 is not above 0.5.
    found = audit(table, SINGLE[:3], quasi=["a"])
    holds(found["k-anonymity"][0], violating_classes=0, violating_records=0)
    assert "share_above" not in found["prosecutor-risk"][0]
    found = audit(table, SINGLE[2:3], quasi=["a"], max_prosecutor=0.5)
    holds(found["prosecutor-risk"][0], share_above=1 / 6)


def test_diversity_and_closeness(audit: Audit) -> None:
    table = {"release": (TYPES, ROWS)}
    given = {"quasi": ["a"], "sensitive": ["s", "income"]}
    found = audit(table, [*DIVERSITY, *CLOSENESS], **given, min_l=2, max_t=0.5, max_alpha=0.5, max_beta=0.5)
    for row in found["l-diversity"]:
        holds(row, value=1, violating_classes=1, violating_records=1)
    for row in found["entropy-l-diversity"]:
        holds(row, value=1.0)
    # Class 3: 1 < 2 · 1 holds; with c = 1 it does not.
    for row in found["recursive-l-diversity"]:
        holds(row, value=1, c=2.0)
    # flu and cold are one half each: 2/3 and 1/3, 1/2 and 1/2, 0 and 1 of the classes.
    illness, income = found["t-closeness"]
    holds(illness, value=0.5, distance="equal", violating_classes=0, violating_records=0)
    # 1, 2, 4, 8 cumulate to 2/6, 4/6, 5/6, 1; class 3 has only 8: (2 + 4 + 5)/6 over m - 1 = 3.
    holds(income, value=11 / 18, distance="ordered", violating_classes=1, violating_records=1)
    # The largest shares are 2/3, 1/2 and 1: one half is not above one half.
    for row in found["alpha-k-anonymity"]:
        holds(row, value=1.0, violating_classes=2, violating_records=4)
    # cold: (1 - 1/2)/(1/2); 8: (1 - 1/6)/(1/6).
    assert [row["value"] for row in found["beta-likeness"]] == pytest.approx([1.0, 5.0])
    assert [row["columns"] for row in found["beta-likeness"]] == [["a", "s"], ["a", "income"]]
    found = audit({"release": (TYPES, ROWS[:5])}, DIVERSITY, **given, c=1.0)
    # Class 1 has 2/3 and 1/3: exp(H) = 3/4^(1/3); 2 < 1 · (2 + 1), not 2 < 1 · 1. Class 2: 1 < 2, not 1 < 1.
    holds(found["entropy-l-diversity"][0], value=3 / 4 ** (1 / 3))
    holds(found["recursive-l-diversity"][0], value=1)
    holds(found["l-diversity"][0], value=2)


def test_a_sample_with_weights(audit: Audit) -> None:
    measures = ["journalist-risk", "marketer-risk", "individual-risk", "global-risk"]
    found = audit({"release": (TYPES, ROWS)}, measures, quasi=["a"], weight="w", max_journalist=0.2, max_risk=0.4)
    # 1/12, 1/3, 1/5, the last of which is not above 0.2.
    holds(found["journalist-risk"][0], value=1 / 3, violating_classes=1, violating_records=2)
    holds(found["marketer-risk"][0], value=(3 / 12 + 2 / 3 + 1 / 5) / 6, records=6)
    assert found["marketer-risk"][0]["in"] == "population"
    # p = 3/12: p/(2 + p); p = 2/3: p/q - (p/q)^2 log(1/p); p = 1/5: p/q log(1/p).
    risks = [1 / 9, 2 - 4 * log(1.5), log(5) / 4]
    holds(found["individual-risk"][0], value=risks[2], violating_classes=1, violating_records=1)
    expected = 3 * risks[0] + 2 * risks[1] + risks[2]
    holds(found["global-risk"][0], value=expected / 6, expected=expected, records=6)


def test_a_population(audit: Audit) -> None:
    tables = {"release": (TYPES, ROWS), "population": ({"a": "INTEGER"}, POPULATION)}
    measures = ["journalist-risk", "marketer-risk", "k-map", "delta-presence"]
    given = {"quasi": ["a"], "population": "population"}
    found = audit(tables, measures, **given, min_k_map=4, max_delta=0.5)
    holds(found["journalist-risk"][0], value=1 / 2)
    holds(found["marketer-risk"][0], value=(3 / 6 + 2 / 2 + 1 / 4) / 6)
    holds(found["k-map"][0], value=2, violating_classes=1, violating_records=2)
    # 3 of 6, 2 of 2, 1 of 4, 0 of 9 members are in the release.
    holds(found["delta-presence"][0], value=1.0, least=0.0, violating_classes=1)
    unknown = audit(tables, ["delta-presence"], **given, nulls="wildcard")["delta-presence"][0]
    assert unknown["value"] is None
    assert "must be in one class" in unknown["reason"]


def test_no_records(audit: Audit) -> None:
    found = audit({"release": (TYPES, [])}, [*SINGLE, "l-diversity", "individual-risk", "global-risk"],
                  quasi=["a"], sensitive=["s"], weight="w")  # fmt: skip
    holds(found["k-anonymity"][0], value=0, records=0, classes=0)
    holds(found["sample-uniques"][0], value=0, share=0.0)
    for name in ("prosecutor-risk", "l-diversity", "individual-risk", "global-risk"):
        assert found[name][0]["value"] is None
        assert found[name][0]["reason"] == "there are no records"
    found = audit({"release": (TYPES, [])}, ["marketer-risk"], quasi=["a"])
    assert found["marketer-risk"][0]["reason"] == "there are no records"


LIMITS = {  # what just passes, and what just fails
    "min_k": (1, 2), "max_uniques": (1, 0), "min_l": (1, 2), "min_entropy_l": (1.0, 1.5), "min_recursive_l": (1, 2),
    "max_t": (0.5, 0.4), "max_alpha": (1.0, 0.9), "max_beta": (1.0, 0.9), "max_prosecutor": (1.0, 0.9),
    "max_marketer": (0.19, 0.18), "max_journalist": (0.34, 0.33), "max_risk": (0.41, 0.4),
    "max_global_risk": (0.25, 0.24),
}  # fmt: skip


def test_gates_are_passed_at_their_limit_and_failed_beyond_it(audit: Audit) -> None:
    table = {"release": (TYPES, ROWS)}
    everybody = {"population": ({"a": "INTEGER"}, POPULATION)}
    for side, status in enumerate(("passed", "failed")):
        limits = {name: limit[side] for name, limit in LIMITS.items()}
        found = audit(table, [], quasi=["a"], sensitive=["s"], weight="w", **limits)
        asked = [row for rows in found.values() for row in rows if row["threshold"] is not None]
        assert [row["status"] for row in asked] == [status] * len(LIMITS)
        assert [row["passed"] for row in asked] == [status == "passed"] * len(LIMITS)
        limits = {"min_k_map": (2, 3)[side], "max_delta": (1.0, 0.9)[side]}
        given = {"quasi": ["a"], "population": "population", **limits}
        found = audit({**table, **everybody}, ["k-map", "delta-presence"], **given)
        assert [found[name][0]["status"] for name in ("k-map", "delta-presence")] == [status] * 2


def test_every_audit_names_its_source_and_its_templates() -> None:
    known, used = set(all_templates()), set()
    for found in audits().values():
        assert found.source
        assert found.templates
        assert set(found.templates) <= known
        used |= set(found.templates)
    # What publishing, the checks of the input, the risks of records and compare run is not an audit's own.
    shared = ("ambiguous_floats", "population_members", "violating_classes", "repeated_keys", "references",
              "joined", "rows_of_persons", "alike_persons", "each_a_person",
              "scored_classes", "record_risks", "keyless", "alone", "both_files", "part")  # fmt: skip
    assert {name for name in known - used if name.startswith("audit/")} == {f"audit/{name}.sql" for name in shared}


def test_what_is_not_chosen_is_measured_where_the_inputs_allow(audit: Audit) -> None:
    found = audit({"release": (TYPES, ROWS)}, [], quasi=["a"])
    assert list(found) == ["k-anonymity", "sample-uniques", "prosecutor-risk", "marketer-risk", "contribution"]
    for (row,) in found.values():
        holds(row, columns=["a"], threshold=None, passed=None, status="measured", nulls="own_value", asked=False)
    # Of a table without records some say 0, the others nothing; unless they are asked.
    nothing = {"release": (TYPES, [])}
    assert list(audit(nothing, [], quasi=["a"])) == ["k-anonymity", "sample-uniques"]
    asked = audit(nothing, ["k-anonymity"], quasi=["a"], max_prosecutor=1.0)
    assert list(asked) == ["k-anonymity", "prosecutor-risk"]
    holds(asked["k-anonymity"][0], asked=True, status="measured")
    holds(asked["prosecutor-risk"][0], asked=True, status="unknown", passed=False, value=None, threshold=1.0)
    # What the inputs allow and cannot be computed is told, asked or not.
    found = audit({"release": (TYPES, ROWS)}, [], quasi=["a"], person=["w"], nulls="wildcard")
    assert found
    for (row,) in found.values():
        holds(row, value=None, status="unknown", passed=False, asked=False)
        assert "persons are not counted" in row["reason"]
    lacking = audit({"release": (TYPES, ROWS)}, ["journalist-risk", "l-diversity"], quasi=["a"])
    assert lacking["journalist-risk"][0]["reason"] == "needs --population or --weight"
    assert lacking["l-diversity"][0]["reason"] == "needs --sensitive"


def test_a_row_in_words() -> None:
    row = AuditRow("k-map", ["a", "b"], 1 / 3, None, True, None, "measured", "own_value")
    assert row.told == "k-map (a, b) is 0.333333"
    assert replace(row, columns=[], value=None, reason="no").told == "k-map is unknown: no"
    assert replace(row, threshold=2).told == "k-map (a, b) is 0.333333, needed at least 2"
