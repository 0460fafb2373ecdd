-- title: Means and sums of products of the columns, each scaled to [0, 1] and then centred
-- source: sqlmicro. The values are summed as whole multiples of 2^-60: a sum of whole numbers does not depend on the
--   order, so one, two or eight threads give the same ordering of the records. A missing value counts as the mean
-- reads: relation
-- returns: one row: records, and for columns i <= j (counted from 1) mean_i and sum_i_j; NULL for a constant column
-- params: relation, columns
WITH extent AS (
  SELECT
    count(*) AS records
    , min(CAST("x" AS DOUBLE)) AS low_1
    , nullif(max(CAST("x" AS DOUBLE)) - low_1, 0) AS width_1
    , min(CAST("net ""income""" AS DOUBLE)) AS low_2
    , nullif(max(CAST("net ""income""" AS DOUBLE)) - low_2, 0) AS width_2
  FROM "staging"."typed"
),
scaled AS (
  SELECT
    records
    , (CAST("x" AS DOUBLE) - low_1) / width_1 AS u_1
    , (CAST("net ""income""" AS DOUBLE) - low_2) / width_2 AS u_2
  FROM "staging"."typed", extent
),
centre AS (
  SELECT
    max(records) AS records
    , CAST(sum(CAST(u_1 * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976
      / count(u_1) AS mean_1
    , CAST(sum(CAST(u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976
      / count(u_2) AS mean_2
  FROM scaled
),
centred AS (
  SELECT
    c.*
    , coalesce(s.u_1 - c.mean_1, 0) AS u_1
    , coalesce(s.u_2 - c.mean_2, 0) AS u_2
  FROM scaled AS s, centre AS c
)
SELECT
  max(records) AS records
  , max(mean_1) AS mean_1
  , CAST(sum(CAST(u_1 * u_1 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_1_1
  , CAST(sum(CAST(u_1 * u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_1_2
  , max(mean_2) AS mean_2
  , CAST(sum(CAST(u_2 * u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_2_2
FROM centred
