"""A Dagster asset: the release is made from its table, and fails where a gate of the job file does.

dagster asset materialize --select persons_release -f examples/dagster_release.py
"""

from pathlib import Path

import dagster

import sqlmicro

JOB = Path(__file__).parent / "incomes_then_safe.toml"


@dagster.asset
def persons_release() -> dagster.MaterializeResult:
    """Run the job file; what an audit or a gate refuses is not published, and raises here."""
    report = sqlmicro.run(str(JOB))
    return dagster.MaterializeResult(metadata={name: report[name] for name in ("release", "target", "rows", "k", "IL")})


defs = dagster.Definitions(assets=[persons_release])
