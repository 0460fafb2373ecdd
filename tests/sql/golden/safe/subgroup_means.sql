-- title: By how much the means of subgroups shift between two files
-- source: the standard error of a mean, s / sqrt(n), of every subgroup in the original
-- reads: original, changed (combinations that occur, with n)
-- returns: a row per set of nominal columns: table_id (as grouping() gives it: a bit per column, set where the column is not in the set), and for the
--   i-th numeric column the number of subgroups with enough records whose values differ: subgroups_i, shifted_i (by more than a standard error, or gone),
--   gone_i, and largest_i, the largest shift in standard errors
-- params: original, changed, nominal, numeric, sets, unit (what an average record counts in n), least (records)
WITH centre AS (
  SELECT
    0 AS nothing
    , sum(n * CAST("x" AS DOUBLE)) / sum(n) FILTER (WHERE "x" IS NOT NULL) AS mean_1
  FROM "staging"."original"
),
both_files AS (
  SELECT
    CAST(o.n AS DOUBLE) / 1.0 AS before,
    NULL AS after
    , o."sex"
    , o."land"
    , CAST(o."x" AS DOUBLE) - m.mean_1 AS u_1
  FROM "staging"."original" AS o, centre AS m
  UNION ALL
  SELECT
    NULL AS before,
    CAST(r.n AS DOUBLE) / 1.0 AS after
    , r."sex"
    , r."land"
    , CAST(r."x" AS DOUBLE) - m.mean_1 AS u_1
  FROM "staging"."changed" AS r, centre AS m
),
summed AS (
  SELECT
    grouping("sex", "land") AS table_id
    , sum(before) FILTER (WHERE u_1 IS NOT NULL) AS records_1
    , sum(before * u_1) / sum(before) FILTER (WHERE u_1 IS NOT NULL) AS before_1
    , sum(before * u_1 * u_1) AS squares_1
    , sum(after * u_1) / sum(after) FILTER (WHERE u_1 IS NOT NULL) AS after_1
    , min(u_1) FILTER (WHERE before IS NOT NULL) < max(u_1) FILTER (WHERE before IS NOT NULL) AS varies_1
  FROM both_files
  GROUP BY GROUPING SETS (
    ("sex"),
    ("land")
  )
),
errors AS (
  SELECT
    *
    , sqrt(greatest(squares_1 - records_1 * before_1 * before_1, 0) / nullif(greatest(records_1 - 1, 0), 0) / records_1) AS error_1
  FROM summed
),
subgroups AS (
  SELECT
    table_id
    , varies_1 AND error_1 > 0 AND records_1 >= 3 - 1e-6 AS counts_1
    , after_1 IS NULL AS gone_1
    , abs(after_1 - before_1) / nullif(error_1, 0) AS shift_1
  FROM errors
)
SELECT
  table_id
  , count(*) FILTER (WHERE counts_1) AS subgroups_1
  , count(*) FILTER (WHERE counts_1 AND (gone_1 OR shift_1 > 1 + 1e-9)) AS shifted_1
  , count(*) FILTER (WHERE counts_1 AND gone_1) AS gone_1
  , max(shift_1) FILTER (WHERE counts_1) AS largest_1
FROM subgroups
GROUP BY table_id
ORDER BY table_id
