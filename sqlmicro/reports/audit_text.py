"""The report of `sqlmicro audit` as text: a line per audit, then the class sizes as bars of characters."""

from __future__ import annotations

from typing import Any

from sqlmicro.reports.text import figure, histogram, line, some, table

NULLS = {
    "own_value": "a value of its own",
    "wildcard": "matches every value",
    "exclude": "its record is left out",
}


def audit(report: dict[str, Any]) -> str:
    """Return what was measured, what failed, and the class sizes."""
    lines = [line("table", report["table"])]
    lines += [line(role, ", ".join(report[role])) for role in ("quasi", "sensitive") if report[role]]
    if report["weight"]:
        lines.append(line("weight", report["weight"]))
    if report["entity"]:
        lines.append(line("entity", f"{report['entity']}: classes count distinct entities, not records"))
    lines.append(line("NULL", NULLS[report["nulls"]]))
    recorded = f"release {report['release']} in sqlmicro.audits" if report["recorded"] else ""
    if recorded:
        lines.append(line("recorded", recorded))
    lines += [
        "",
        table(
            [_cells(row, report["quasi"]) for row in report["audits"]], ["audit", "value", "gate", "", "of"], right=[1]
        ),
    ]
    lines += [line(row["check"], f"unknown: {row['reason']}") for row in report["audits"] if row["status"] == "unknown"]
    lines += [line(row["check"], _suda(row)) for row in report["audits"] if "dis_suda" in row]
    for row in report["audits"]:
        if row["check"] == "k-anonymity" and row["status"] != "unknown":
            lines += ["", *_k(row, "entities" if report["entity"] else "records")]
    if report.get("classes_shown"):
        rows = [[("NULL" if value is None else str(value)) for value in row] for row in report["classes_shown"]]
        lines += ["", table(rows, [*report["quasi"], "records"])]
    return "\n".join(lines)


def _cells(row: dict[str, Any], quasi: list[str]) -> list[str]:
    """Return the cells of a row; of the columns, those that are no quasi-identifiers anyway."""
    value = "unknown" if row["value"] is None else figure(row["value"])
    needed = ""
    if row["threshold"] is not None:
        needed = f"{'>=' if row['at_least'] else '<='} {figure(row['threshold'])}"
    verdict = {"failed": "FAILED", "unknown": "FAILED" if row["asked"] else ""}.get(row["status"], row["status"])
    return [
        row["check"],
        value,
        needed,
        "" if verdict == "measured" else verdict,
        some([name for name in row["columns"] if name not in quasi]),
    ]


def _k(row: dict[str, Any], unit: str) -> list[str]:
    k = row["threshold"]
    lines = [line(unit, f"{row['records']:,} in {_classes(row['classes'])}")]
    if k is not None:
        lines.append(line("below k", f"{row['violating_records']:,} {unit} in {_classes(row['violating_classes'])}"))
    return [*lines, "", histogram(row["histogram"], k, unit)]


def _suda(row: dict[str, Any]) -> str:
    dis = row["dis_suda"]
    text = f"{row['records']:,} have a score, from combinations of up to {row['size']} columns. DIS-SUDA "
    if "reason" in dis:
        return text + f"{dis['reason']}."
    return text + f"is at most {figure(dis['highest'])}, at a sampling fraction of {figure(dis['sampling_fraction'])}."


def _classes(number: int) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}"
