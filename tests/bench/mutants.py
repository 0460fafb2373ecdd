"""Break twelve places on purpose, one at a time, in a copy: the quick suite must see each. Run it by hand:

    python tests/bench/mutants.py [NAME…]

It prints a JSON line per mutant, and exits 1 if one survives. Goldens are left out: they see every change of a
statement, and say nothing about whether its rows are right.
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
    """One place that is broken: a text in a file and what replaces it; `tests` are those that should see it."""

    name: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]


MUTANTS = [
    Mutant(
        "publish: a table is not made in the transaction that audits it",
        "sqlmicro/publish/publish.py",
        "contextlib.ExitStack() as entries, warehouse.transaction(releasing=True):",
        "contextlib.ExitStack() as entries:",
        ("tests/test_publish.py", "tests/trust/test_crash.py"),
    ),
    Mutant(
        "gate: whatever is measured passes",
        "sqlmicro/audits/runner.py",
        '"passed" if found.holds(value, threshold) else "failed"',
        '"passed"',
        ("tests/audits/test_gates.py",),
    ),
    Mutant(
        "NULLs in k: records with a missing value are not counted",
        "sql/audit/records.sql",
        "WHERE NOT (false",
        "WHERE COLUMNS(*) IS NOT NULL AND NOT (false",
        ("tests/audits/test_k_anonymity.py", "tests/sql/test_templates.py"),
    ),
    Mutant(
        "purge comparison: a copy that differs takes the place of the file",
        "sqlmicro/erasure/copy_database.py",
        "    if differ:",
        "    if not differ and differ:",
        ("tests/trust/test_purge.py",),
    ),
    Mutant(
        "SAFE sign: a record that joins a cell lowers its count",
        "sqlmicro/safe_method/_cost_kernels.py",
        "change = _penalty(before + up, bound[t]",
        "change = _penalty(before - up, bound[t]",
        ("tests/safe_method/test_search_kernels.py", "tests/safe_method/test_search.py"),
    ),
    Mutant(
        "MDAV tie: of equally near records the last is taken",
        "sqlmicro/group/_tree_kernels.py",
        "if d < worst or (d == worst and row < worst_row):",
        "if d < worst or (d == worst and row > worst_row):",
        ("tests/group/test_mdav.py",),
    ),
    Mutant(
        "quoting: a quote in a name ends the name",
        "sqlmicro/database/templates.py",
        """Sql('"' + text.replace('"', '""') + '"')""",
        """Sql('"' + text + '"')""",
        ("tests/sql/test_templates.py",),
    ),
    Mutant(
        "attack rate: one of several nearest records counts as found",
        "sqlmicro/attacks/linkage.py",
        "= right / ties[own]",
        "= right / right.clip(1)",
        ("tests/attacks/test_linkage.py",),
    ),
    Mutant(
        "suppression: a combination of k - 1 records is shown",
        "sqlmicro/mask/suppression.py",
        "        rare = size < k\n",
        "        rare = size < k - 1\n",
        ("tests/mask/test_suppress.py",),
    ),
    Mutant(
        "PRAM: what does not stay has too small a probability",
        "sql/mask/transitions.sql",
        "(count(*) OVER (PARTITION BY a.label) - 1)",
        "count(*) OVER (PARTITION BY a.label)",
        ("tests/sql/test_templates.py", "tests/mask/test_masks.py"),
    ),
    Mutant(
        "EMD: the shares of the release are not cumulated",
        "sql/audit/earth_movers.sql",
        "sum(sum(after)) OVER",
        "max(sum(after)) OVER",
        ("tests/sql/test_templates.py", "tests/audits/test_utility.py"),
    ),
    Mutant(
        "seeds: all that is drawn with one seed has the same numbers",
        "sqlmicro/system/secrets.py",
        "text = json.dumps(parts, ",
        "text = json.dumps(parts[0], ",
        ("tests/trust/test_same_seed.py",),
    ),
]


def copy_of(folder: Path) -> Path:
    """Copy what the tests need, compiled code with it."""
    copy = folder / "copy"
    for name in ("sqlmicro", "sql", "tests", "examples"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.pyc"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    return copy


def broken(mutant: Mutant, copy: Path) -> None:
    """Break the place in a copy; compiled code that may have taken it over is removed."""
    path = copy / mutant.file
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.text) < 1:
        raise SystemExit(f"{mutant.name}: {mutant.file} no longer has this place. Name another one here")
    path.write_text(source.replace(mutant.text, mutant.instead), encoding="utf-8")
    if path.stem.endswith("_kernels"):
        for kept in path.parent.glob("__pycache__/*.nb?"):
            kept.unlink()


def run(mutant: Mutant) -> bool:
    """Return whether the tests see a mutant."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of(Path(folder))
        broken(mutant, copy)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *mutant.tests]
        done = subprocess.run(
            [*command, "-k", "not golden"], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True, text=True,
        )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.name}: the tests did not run\n{done.stdout}\n{done.stderr}")
    seen_by = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    figures = {"killed": done.returncode == 1, "by": seen_by, "seconds": round(time.monotonic() - started)}
    print(json.dumps({"mutant": mutant.name, **figures}), flush=True)
    return done.returncode == 1


if __name__ == "__main__":
    wanted = [m for m in MUTANTS if not sys.argv[1:] or any(m.name.startswith(name) for name in sys.argv[1:])]
    killed = [run(mutant) for mutant in wanted]
    sys.exit(0 if all(killed) else 1)
