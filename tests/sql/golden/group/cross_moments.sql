-- title: Sums and sums of products of the columns, each scaled to [0, 1]
-- source: sqlmicro. The scaled values are summed as whole multiples of 2^-60: a sum of whole numbers does not depend
--   on the order, so one, two or eight threads give the same ordering of the records
-- reads: relation
-- returns: one row: records, and for columns i <= j (counted from 1) count_i, sum_i, count_i_j, sum_i_j
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
)
SELECT
  max(records) AS records
  , count(u_1) AS count_1
  , CAST(sum(CAST(u_1 * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976 AS sum_1
  , count(u_1 * u_1) AS count_1_1
  , CAST(sum(CAST(u_1 * u_1 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_1_1
  , count(u_1 * u_2) AS count_1_2
  , CAST(sum(CAST(u_1 * u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_1_2
  , count(u_2) AS count_2
  , CAST(sum(CAST(u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976 AS sum_2
  , count(u_2 * u_2) AS count_2_2
  , CAST(sum(CAST(u_2 * u_2 * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_2_2
FROM scaled
