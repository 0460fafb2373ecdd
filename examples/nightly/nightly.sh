#!/bin/sh
# The release of the night, for cron:   15 3 * * *  /srv/release/nightly.sh
# cron mails what is printed, and an exit code other than 0 stops here: nothing was published then.
# A scheduler that knows the day of a run names it: SQLMICRO_NIGHT=2026-01-31 nightly.sh
set -eu
cd "$(dirname "$0")"
sqlmicro run nightly.toml --quiet
sqlmicro audit --db warehouse.duckdb --table persons_nightly --quasi age,income,region --min-k 5 --quiet
