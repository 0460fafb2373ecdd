"""Break a hundred places on purpose, one at a time, in a copy: the quick suite must see each. Run it by hand:

    python tests/bench/mutants.py [NAME…]

It prints a JSON line per mutant whose name begins so, and exits 1 if one survives. Goldens are left out: they see every
change of a statement, and say nothing about whether its rows are right.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One place that is broken: a text in a file and what replaces it; `seen_by` are the tests that should see it.

    A file is one of the package, or of `sql/`, whose row tests see it too; of a file of tests its name tells enough.
    """

    name: str
    file: str
    seen_by: str
    text: str
    instead: str

    @property
    def path(self) -> str:
        """The file in the repository."""
        return self.file if self.file.startswith("sql/") else f"sqlmicro/{self.file}"

    @property
    def tests(self) -> list[str]:
        """The files of tests, and of a template those of the rows of its folder."""
        parts = [name.rpartition("/") for name in self.seen_by.split()]
        named = [f"tests/{folder}{slash}test_{name}.py" for folder, slash, name in parts]
        of, stage, *_ = [*self.file.split("/"), ""]
        return named + [f"tests/sql/test_templates.py::test_rows[{stage}]"] * (of == "sql")


# fmt: off
MUTANTS = [Mutant(*one) for one in (
    ("history: an entry that was taken out of the ledger is not missed", "history/ledger.py", "history/ledger",
     "intact = previous == before and _intact(", "intact = _intact("),
    ("history: a file counts as gone", "history/ledger.py", "history/ledger", 'if entry.kind == "file":',
     'if entry.kind == "":'),
    ("history: who has withdrawn a release still has contents of it", "history/ledger.py", "history/ledger",
     'for name in ("memory", "class_values", "contents"))', 'for name in ("memory", "class_values"))'),
    ("history: the same table in capital letters is another place", "history/ledger.py", "history/ledger",
     "[part.lower() for part in parts] if file is None else parts", "parts"),
    ("retention: a row that was overwritten counts as anonymized", "history/anonymized.py", "history/retention",
     "found[known] &= before.token[at[known]] == token[known]",
     "found[known] &= before.token[at[known]] == before.token[at[known]]"),
    ("retention: rows are emptied a day too late", "history/retention.py", "history/retention",
     "self.day - memory.since[at] >= self.rules.patience", "self.day - memory.since[at] > self.rules.patience"),
    ("series: two nights differ by k - 1 rows", "history/counts.py", "history/seats",
     "rows == other or abs(rows - other) >= k for", "rows == other or abs(rows - other) >= k - 1 for"),
    ("series: after a watermark in the future whatever changes is not read", "history/compared.py",
     "history/incremental", "if self.watermark.family in _DAYS:", "if self.watermark.family in ():"),
    ("publish: a table is not made in the transaction that audits it", "publish/publish.py", "publish trust/crash",
     "contextlib.ExitStack() as entries, warehouse.transaction(releasing=True):", "contextlib.ExitStack() as entries:"),
    ("union: a waived check is recorded as passed", "publish/consult.py", "history/ledger",
     "replace(one.check, passed=None) if over", "replace(one.check, passed=True) if over"),
    ("union: differences of totals are not measured", "publish/consult.py", "history/ledger",
     "found = [_differences(book, release.run, others, k), shared] if", "found = [shared] if"),
    ("union: a table of another name and the same schema is of others", "publish/consult.py", "history/ledger",
     "and (one.people == run.source.people or one.schema_hash == schema)\n    ]",
     "and (one.people == run.source.people and one.schema_hash == schema)\n    ]"),
    ("union: one release of many has persons known by other columns", "publish/consult.py", "history/ledger",
     "if any(one.unit != unit for one in others):", "if others and all(one.unit != unit for one in others):"),
    ("certificate: a release that was withdrawn is certified", "publish/certificate.py", "trust/certificate",
     'if found[0].state not in ("out", "replaced"):', 'if found[0].state == "gone":'),
    ("certificate: entries before its own may have been changed", "publish/certificate.py", "trust/certificate",
     "if one.release <= found[0].release and not one.intact]",
     "if one.release == found[0].release and not one.intact]"),
    ("certificate: a list with one column among values of others is told", "publish/certificate.py",
     "trust/certificate", "return value if all(one in own for one in value) else _UNTOLD",
     "return value if any(one in own for one in value) else _UNTOLD"),
    ("draft: its folder may be written to by the group", "publish/drafts.py", "trust/drafts",
     "not found.st_mode & 0o022)", "not found.st_mode & 0o002)"),
    ("draft: one that is too old is not erased", "publish/drafts.py", "trust/drafts",
     "        erase(folder)\n        raise InputError(", "        raise InputError("),
    ("gate: k of persons is measured and not demanded", "publish/gate.py", "trust/verdict",
     "[persons(run, relation, claim.columns, terms.k)]", "[persons(run, relation, claim.columns)]"),
    ("in place: other values in as many rows are no change", "publish/in_place.py", "trust/in_place",
     "if content(self.warehouse, self.name) != run.table.loaded.seen:",
     "if content(self.warehouse, self.name).records != run.table.loaded.seen.records:"),
    ("ledger: the file of the user may be read by the group", "publish/ledger_file.py", "trust/secrets",
     "if path.stat().st_mode & 0o077:", "if path.stat().st_mode & 0o007:"),
    ("ledger: of a job that failed only the first release is taken back", "publish/ledger_file.py", "history/one_job",
     'unfinished.take_back(opened, "", numbers)', 'unfinished.take_back(opened, "", numbers[:1])'),
    ("recount: of two limits the weaker one is held", "publish/recounted.py", "trust/b13_verify_says_what_it_counted",
     '(min if one.check == "t-closeness" else max)(asked', '(max if one.check == "t-closeness" else min)(asked'),
    ("joins: rows of persons whose key is left out count as persons", "publish/together.py", "joins",
     "hidden = bool(person) and not run.tells_whose", "hidden = False"),
    ("keys: rows that a join gains are no fault", "publish/together.py", "keys", "lost, most = abs(held - joined)",
     "lost, most = max(0, held - joined)"),
    ("types: an ENUM keeps the labels that no record has", "publish/release.py", "trust/kept_types",
     "labels = [label for label in labels_of(column.type) if (number, label) in occurring]",
     "labels = [label for label in labels_of(column.type) if occurring]"),
    ("csv: a missing value of an only column is no record", "publish/new_file.py", "publish",
     "if len(run.roles.released) > 1:\n            return select",
     "if len(run.roles.released) > 0:\n            return select"),
    ("purge comparison: a copy that differs takes the place of the file", "erasure/copy_database.py", "trust/purge",
     "    if differ:", "    if not differ and differ:"),
    ("residue: the log beside the file is not searched", "erasure/residue.py", "trust/erasure",
     'for path in (Path(f"{name}.wal"), *Path(', 'for path in (Path(f"{name}.log"), *Path('),
    ("residue: a value across two parts of a file is not found", "erasure/residue.py", "trust/erasure",
     "start = max(0, len(data) - LONGEST + 1)", "start = len(data)"),
    ("purge: one that failed is not told of", "erasure/purge.py", "trust/purge",
     "return Purging(False, reason, True, f", "return Purging(False, reason, False, f"),
    ("gate: whatever is measured passes", "audits/runner.py", "audits/gates",
     '"passed" if found.holds(value, threshold) else "failed"', '"passed"'),
    ("diversity: values count where persons are fewer", "audits/registry.py", "audits/persons",
     "if audited.person and diversity:", "if audited.person and diversity and not of_release:"),
    ("verdict: of several releases the best count is told", "audits/verdict.py", "trust/verdict",
     "with_others=min(others, default=None))", "with_others=max(others, default=None))"),
    ("verdict: a check that could not run counts as passed", "audits/verdict.py", "reports/statement",
     "if self.not_run or self.waived:", "if self.waived:"),
    ("missing: values that were filled in are no change", "audits/information_loss.py", "audits/utility",
     "change = max(abs(found.after / records.after - found.before / records.before) for",
     "change = max((found.after / records.after - found.before / records.before) for"),
    ("risk table: who is linked to one of two is linked", "audits/record_risks.py", "audits/record_risks",
     "right = found.hits > _RIGHT", "right = found.hits >= _RIGHT"),
    ("suda: DIS-SUDA takes triples for pairs", "audits/suda.py", "trust/suda", "paired=sizes.get(2, 0)",
     "paired=sizes.get(3, 0)"),
    ("population uniqueness: of two estimates the larger is taken", "audits/population_uniqueness.py",
     "audits/population_uniqueness", "self.snb is None or self.zayatz < self.snb else",
     "self.snb is None or self.zayatz > self.snb else"),
    ("invented: the true combinations are named in what leaves with a release", "audits/deniable.py",
     "trust/a01_denial_holds_whatever_is_known", "told = [replace(one, worst=[]) for one in self.by_known",
     "told = [replace(one, worst=one.worst) for one in self.by_known"),
    ("invented: half of them is fewer than half", "audits/deniable.py", "trust/a01_denial_holds_whatever_is_known",
     "below + (2 * new < shown)", "below + (2 * new <= shown)"),
    ("attack rate: one of several nearest records counts as found", "attacks/linkage.py", "attacks/linkage",
     "= right / ties[own]", "= right / right.clip(1)"),
    ("linkage: chance is one in the records, not the persons", "attacks/linkage.py", "attacks/persons",
     "m = attacked.whole[1] if attacked.persons is None else attacked.persons.in_release", "m = attacked.whole[1]"),
    ("control: the half that chooses is the half that is measured", "attacks/control.py", "attacks/control",
     "half[:n] != own].mean()", "half[:n] == own].mean()"),
    ("persons: the last record of a person counts, not the best", "attacks/attacked.py", "attacks/persons",
     "np.maximum.at(best, who, found)", "best[who] = found"),
    ("membership: who is at the bar is told", "attacks/membership.py", "attacks/control",
     "told += weight * float((scores[member] > bar).mean())", "told += weight * float((scores[member] >= bar).mean())"),
    ("membership: the area is that of the half that chose", "attacks/membership.py", "attacks/control",
     "_Half(area(scores[best][1], member[own])", "_Half(area(scores[best][0], member[~own])"),
    ("singling out: conditions are judged by the half that chose", "attacks/criteria.py", "attacks/control",
     "own, other = (part[len(part) // 2 :] for", "own, other = (part[: len(part) // 2] for"),
    ("known sets: nobody knows all columns", "attacks/known_columns.py", "trust/a01_denial_holds_whatever_is_known",
     "sorted({*range(1, min(known, columns) + 1), columns})", "sorted({*range(1, min(known, columns) + 1)})"),
    ("households: a class has k - 1 of them", "guarantees/read.py", "guarantees/units", "limits=(Distinct(rules.k),)",
     "limits=(Distinct(rules.k - 1),)"),
    ("population: a class with enough members may have too large a share", "guarantees/members.py",
     "mask/population_kernels", "self.enough() & (presence <= self.share * (1 + SLACK))",
     "self.enough() | (presence <= self.share * (1 + SLACK))"),
    ("MDAV tie: of equally near records the last is taken", "group/_tree_kernels.py", "group/mdav",
     "if d < worst or (d == worst and row < worst_row):", "if d < worst or (d == worst and row > worst_row):"),
    ("certify: the loss of groups with guarantees is called proven", "group/keeping.py", "group/certify",
     'if more and method.told("certified", settings):', 'if not more and method.told("certified", settings):'),
    ("secure k-ward: a value at the tolerance is too near", "group/secure_k_ward.py", "group/secure_k_ward",
     "(np.abs(members[:, None] - ends) >= tolerance)", "(np.abs(members[:, None] - ends) > tolerance)"),
    ("class size: the strata that are too small are not told", "group/class_size.py", "levels",
     'if found[found > 0].min() < size else ""', 'if found.min() < size else ""'),
    ("suppression: a combination of k - 1 records is shown", "mask/suppression.py", "mask/suppress",
     "        rare = size < k\n", "        rare = size < k - 1\n"),
    ("pseudonyms: two epochs have one key", "system/secrets.py", "history/series_of_masks",
     'key_for(f"epoch {epoch}", ', 'key_for("epoch", '),
    ("where-risk: the risks are of records as they were", "mask/at_risk.py", "mask/at_risk",
     "if found.content != risk_tables.digest(warehouse, source):", "if not risk_tables.digest(warehouse, source):"),
    ("where-risk: records without a risk are left as they are", "mask/at_risk.py", "mask/at_risk",
     "        if unknown:\n            must = f", "        if unknown > records:\n            must = f"),
    ("noise: Laplace noise is half as wide", "mask/noise.py", "mask/noise", "scale = (upper - lower) / epsilon\n",
     "scale = (upper - lower) / (2 * epsilon)\n"),
    ("noise: linear noise moves the mean", "mask/noise.py", "mask/noise", "factors, (1 - factors) * means))",
     "factors, factors * means))"),
    ("generalize: one class of a level may be split", "mask/generalize.py", "mask/generalize", "        if split:\n",
     "        if split > 1:\n"),
    ("suppress: the risk of a record is given for that of a person", "mask/suppress.py", "mask/suppress",
     "if max_risk is not None and work.demand.person:",
     "if max_risk is not None and not work.demand.original:"),
    ("nights: fewer than k are recoded anew", "mask/nights.py", "mask/nights",
     "(np.bincount(stratum, left) >= k)[stratum]", "(np.bincount(stratum, left) > 0)[stratum]"),
    ("sample: a share is rounded down", "mask/sample.py", "mask/masks", "floor((fraction or 0) * rows + 0.5)",
     "floor((fraction or 0) * rows)"),
    ("PRAM: rows of a matrix that do not add up are taken", "mask/pram.py", "mask/masks",
     " or abs(sum(row) - 1) > 1e-6]", " or sum(row) > 1 + 1e-6]"),
    ("patterns: of methods by column all columns are one block", "missing/policy.py", "trust/missing_values",
     "[[column] for column in lacking], by, suffix)", "[lacking], by, suffix)"),
    ("SAFE sign: a record that joins a cell lowers its count", "safe_method/_cost_kernels.py",
     "safe_method/search_kernels safe_method/search", "change = _penalty(before + up, bound[t]",
     "change = _penalty(before - up, bound[t]"),
    ("SAFE: decimals keep a digit more than their type", "safe_method/unify.py", "safe_method/unify",
     'elif column.family == "decimal" and numeric != "mean":',
     'elif column.family == "decimal" and numeric == "mean":'),
    ("SAFE distance: the loss of a column counts by its sum", "safe_method/distance.py", "safe_method/distance",
     "shares = [sse / sst for sse, sst in pairs if sst > 0]",
     "shares = [sse / (sse + sst) for sse, sst in pairs if sst > 0]"),
    ("SAFE: the least file is chosen by its loss", "safe_method/candidates.py", "safe_method/candidates",
     "return self.distance.distance, self.loss\n", "return self.loss, self.distance.distance\n"),
    ("plan: views that are new need no decision", "jobs/approval.py", "approval",
     'there += [("new view", view.label) for view in views(warehouse)]', "there += []"),
    ("plan: one that somebody else has sealed is applied", "jobs/approval.py",
     "trust/b14_a_plan_is_what_was_signed_off", "return made is not None and hmac.compare_digest(",
     "return made is not None or hmac.compare_digest("),
    ("job: one table without a purge spares all", "jobs/run.py", "trust/purge",
     "wanted = any(target.purge for _, target in files)", "wanted = all(target.purge for _, target in files)"),
    ("report: of a column with few present values the share missing is shown", "reports/disclosure.py",
     "reports/disclosure", "if 0 < count < k or 0 < records - count < k else", "if 0 < count < k else"),
    ("report: what is passed over is told without --details as if all passed", "reports/release_text.py",
     "reports/brief", "if check.threshold is not None and not check.passed]",
     "if check.threshold is not None and check.passed is False]"),
    ("report: warnings are behind --details", "reports/release_text.py", "reports/brief",
     '_DECIDE = ("warning: ", "not erased"', '_DECIDE = ("not erased"'),
    ("statement: a withdrawn release counts beside it", "reports/recorded.py", "reports/statement",
     "if id_ == number or id_ not in withdrawn}", "if id_ == number or id_}"),
    ("statement: persons that were counted below k were counted", "reports/collecting.py", "reports/statement",
     "not any(_name(one) == PERSONS and one.passed for", "not any(_name(one) == PERSONS for"),
    ("statement: a check that was not made passed", "reports/risk_sections.py", "reports/statement",
     'if row.value is None:\n        return say("NOT MADE")',
     'if row.value is None and row.passed:\n        return say("NOT MADE")'),
    ("draft: it stays when it was published", "verbs/job_file.py", "trust/drafts",
     "if not report.dry_run:\n        drafts.erase(folder)", "if report.dry_run:\n        drafts.erase(folder)"),
    ("audit --with: persons known by other columns are compared", "verbs/with_releases.py", "audits/with_releases",
     "if len({one.unit for one in (own, *others)}) > 1:", "if len({one.unit for one in others}) > 1:"),
    ("audit --per-record: the records may be those of a release", "verbs/per_record.py", "audits/record_risks",
     "if recording.release_of(warehouse, found.label, found.relation) is not None:",
     "if recording.release_of(warehouse, found.label, found.relation) == 0:"),
    ("compare: a risk at the limit is above it", "verbs/compare.py", "compare", "if point.risk <= options.max_risk]",
     "if point.risk < options.max_risk]"),
    ("ledger: an empty reason withdraws a release", "verbs/ledger.py", "history/ledger",
     'not (options.reason or "").strip())', "options.reason is None)"),
    ("options: a number that is none is within its bounds", "options/params.py", "options/params",
     "if value != value or (low is not None", "if (low is not None"),
    ("options: a limit without a sensitive column is dropped", "options/guarantees.py", "options/params",
     "yield Need(self.sensitive or not self.limits, where, ",
     "yield Need(self.sensitive is not None or not self.limits, where, "),
    ("seeds: all that is drawn with one seed has the same numbers", "system/secrets.py", "trust/same_seed",
     "text = json.dumps(parts, ", "text = json.dumps(parts[0], "),
    ("secrets: two tables hash their persons with one key", "system/secrets.py", "trust/secrets",
     '_derived("ledger", source) if', '_derived("ledger") if'),
    ("secrets: the file may be read by the group", "system/secrets.py", "trust/secrets",
     "modes = status.st_mode & 0o077,", "modes = status.st_mode & 0o007,"),
    ("messages: a text with a line end is quoted", "system/printable.py", "doctests",
     'fits = len(value) <= LONGEST_QUOTED and not {"\\n", "\\r"} & {*value}', "fits = len(value) <= LONGEST_QUOTED"),
    ("quoting: a quote in a name ends the name", "database/templates.py", "sql/templates",
     'Sql(\'"\' + text.replace(\'"\', \'""\') + \'"\')', 'Sql(\'"\' + text + \'"\')'),
    ("errors: a value that does not fit is quoted", "database/redact.py", "trust/messages",
     'if kinds & {"CatalogException", "BinderException", "ParserException"}:',
     'if kinds & {"CatalogException", "BinderException", "ParserException", "ConversionException"}:'),
    ("own key: a UNIQUE column with NULLs is a key", "database/own_key.py", "history/own_key",
     'if kind == "PRIMARY KEY" or filled == len(names))', 'if kind == "PRIMARY KEY" or filled <= len(names))'),
    ("risk tables: that of a table in place stays", "database/risk_tables.py", "mask/at_risk",
     "if one.source == identity_of(relation)]", "if one.source == str(relation)]"),
    ("unfinished: what was told of contents stays when a release is taken back", "database/unfinished.py",
     "history/ledger", '"class_values", "contents", "series", "series_seats"',
     '"class_values", "series", "series_seats"'),
    ("attach: a database that nobody writes to is open to be written", "database/attach.py", "sources",
     'options = ["READ_WRITE" if writes else "READ_ONLY"]', 'options = ["READ_WRITE"]'),
    ("session: a release from Python is published in a database that is read", "session/release.py", "session/session",
     "if self._session.held.read_only:\n            raise", "if self._session.held is None:\n            raise"),
    ("purge: a failed one ends with 0", "cli.py", "trust/purge",
     "code = worst or int(failed or (isinstance(report, Unpurged) and report.left_unpurged))",
     "code = worst or int(failed)"),
    ("verify: a check over columns that are not counted is of all", "verify.py",
     "trust/b13_verify_says_what_it_counted", "whole = whole or (of_all and one[", "whole = whole or (one["),
    ("NULLs in k: records with a missing value are not counted", "sql/audit/records.sql", "audits/k_anonymity",
     "WHERE NOT (false", "WHERE COLUMNS(*) IS NOT NULL AND NOT (false"),
    ("PRAM: what does not stay has too small a probability", "sql/mask/transitions.sql", "mask/masks",
     "(count(*) OVER (PARTITION BY a.label) - 1)", "count(*) OVER (PARTITION BY a.label)"),
    ("EMD: the shares of the release are not cumulated", "sql/audit/earth_movers.sql", "audits/utility",
     "sum(sum(after)) OVER", "max(sum(after)) OVER"),
    ("SQL union: a person whose class changed without a value", "sql/history/cells_of_records.sql", "",
     "AND value <> 0 AND was <> 0 AND (value", "AND (value"),
    ("SQL union: values are left that one release lacks", "sql/history/union_values.sql", "",
     "count(*) FILTER (WHERE found = releases) AS kept", "count(*) FILTER (WHERE found > 0) AS kept"),
    ("SQL series: who waits for her class again has moved", "sql/history/seat_changes.sql", "",
     "WHEN k.seat < -1 THEN -2 - k.seat END", "WHEN k.seat < -1 THEN k.seat END"),
    ("SQL series: a row that changed at the mark is not read", "sql/history/rows_since.sql", "",
     ">= CAST({{ mark | lit }}", "> CAST({{ mark | lit }}"),
    ("SQL release: records without a person are of different ones", "sql/publish/with_persons.sql", "",
     "IS NULL{% endfor %} THEN 0\n", "IS NULL{% endfor %} THEN 1 + o.row_id\n"),
    ("SQL preview: a class below k of one of two steps is shown", "sql/publish/preview.sql", "",
     "    AND size_{{ loop.index }} >= {{ k }}", "    AND size_1 >= {{ k }}"),
    ("SQL rare: a value of one person in many records is not rare", "sql/load/rare_values.sql", "",
     "least(count(*), count(*){% for key", "greatest(count(*), count(*){% for key"),
    ("SQL units: a column that is missing in some records is constant", "sql/load/differing_units.sql", "",
     "NOT IN (0, times)) AS differing_", "NOT IN (0, times, times - 1)) AS differing_"),
    ("SQL residue: numbers that were released differently are the same", "sql/erasure/replaced_values.sql", "",
     "CAST(r.{{ released_column | ident }} AS {{ kind | sqltype }})"
     " = CAST(o.{{ column | ident }} AS {{ kind | sqltype }})",
     "CAST(r.{{ released_column | ident }} AS VARCHAR) = CAST(o.{{ column | ident }} AS VARCHAR)"),
    ("SQL risk: pairs have the risk of larger classes", "sql/audit/individual_risk.sql", "", "WHEN size = 2 THEN",
     "WHEN size = 0 THEN"),
    ("SQL persons: one in two classes counts in the larger", "sql/audit/person_sizes.sql", "",
     "ORDER BY size) = 1 AS is_first", "ORDER BY size DESC) = 1 AS is_first"),
    ("SQL persons: a person is as diverse as her class", "sql/audit/person_summary.sql", "",
     "(SELECT count(*) FROM found WHERE low <", "(SELECT count(*) FROM found WHERE high <"),
    ("SQL homogeneity: a class with one value and a missing one is alike", "sql/attack/class_values.sql", "",
     "IN (0, count(*)) AS one_value", "<= count(*) AS one_value"),
    ("SQL where-risk: a unit has the least risk of its records", "sql/mask/at_risk.sql", "",
     "max(r.measure) AS measure", "min(r.measure) AS measure"),
    ("SQL tails: a value at the threshold is shown", "sql/mask/rows_in_tails.sql", "",
     "THEN coalesce(r.{{ column | ident }} >= t.start,", "THEN coalesce(r.{{ column | ident }} > t.start,"),
    ("SQL tails: the quantile is between two values", "sql/mask/thresholds_by_quantile.sql", "", "quantile_disc(",
     "quantile_cont("),
    ("SQL sample: a record at the share is left out", "sql/mask/sampled.sql", "", "WHERE position <= size",
     "WHERE position < size"),
    ("SQL SAFE: a class of k persons is short", "sql/safe/cells_of_short_groups.sql", "",
     "count(DISTINCT p.counted) < {{ k | lit }}", "count(DISTINCT p.counted) <= {{ k | lit }}"),
    ("SQL modes: of two modes the missing one is taken", "sql/replace/group_modes.sql", "", "NULLS LAST) = 1",
     "NULLS FIRST) = 1"),
)]
# fmt: on


def copied(folder: Path) -> Path:
    """Copy what the tests need, compiled code with it."""
    for name in ("sqlmicro", "sql", "tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc"), dirs_exist_ok=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def run(mutant: Mutant, copy: Path) -> bool:
    """Return whether the tests see a mutant; compiled code that may have taken the place over is removed before."""
    started, path = time.monotonic(), copy / mutant.path
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.text) != 1:
        raise SystemExit(f"{mutant.name}: {mutant.path} must have this place once. Name another one here")
    path.write_text(source.replace(mutant.text, mutant.instead), encoding="utf-8")
    for kept in path.parent.glob("__pycache__/*.nb?") if path.stem.endswith("_kernels") else ():
        kept.unlink()
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *mutant.tests]
    done = subprocess.run(
        [*command, "-k", "not golden"], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True,
        text=True,
    )  # fmt: skip
    shutil.copy2(ROOT / mutant.path, path)
    if path.stem.endswith("_kernels"):
        copied(copy)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.name}: the tests did not run\n{done.stdout}\n{done.stderr}")
    by = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    figures = {"killed": done.returncode == 1, "by": by, "seconds": round(time.monotonic() - started)}
    print(json.dumps({"mutant": mutant.name, **figures}), flush=True)
    return done.returncode == 1


if __name__ == "__main__":
    (ROOT / "build").mkdir(exist_ok=True)  # in a folder that others may write to, compiled code is not kept
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        there = copied(Path(folder))
        wanted = [m for m in MUTANTS if not sys.argv[1:] or m.name.startswith(tuple(sys.argv[1:]))]
        killed = [run(mutant, there) for mutant in wanted]
    sys.exit(0 if all(killed) else 1)
