#!/bin/sh
# The release of the night, for cron:   15 3 * * *  /srv/release/nightly.sh
# cron mails what is printed, and an exit code other than 0 stops here: nothing was published then.
set -eu
cd "$(dirname "$0")"
sqlmicro run incomes_then_safe.toml --quiet
sqlmicro audit --db warehouse.duckdb --table persons_release --quasi sex,age,region,marital --min-k 3 --quiet
