-- title: What the deviations of a file are measured against
-- source: Höhne, SAFE
-- reads: cells
-- returns: one row: records, and for the i-th numeric column the sum of its absolute values absolute_i
-- params: cells, numeric
SELECT
  CAST(sum(n) AS BIGINT) AS records
  , sum(n * abs(CAST("x" AS DOUBLE))) AS absolute_1
  , sum(n * abs(CAST("net ""income""" AS DOUBLE))) AS absolute_2
FROM "staging"."cells"
