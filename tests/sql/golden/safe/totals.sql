-- title: The number of records of a file and the totals of its numeric columns, which deviations are measured against
-- source: Höhne, SAFE
-- reads: cells
-- returns: one row: records, and for the i-th numeric column its sum total_i and the sum of its absolute values absolute_i
-- params: cells, numeric
SELECT
  sum(n) AS records
  , sum(n * CAST("x" AS DOUBLE)) AS total_1
  , sum(n * abs(CAST("x" AS DOUBLE))) AS absolute_1
  , sum(n * CAST("net ""income""" AS DOUBLE)) AS total_2
  , sum(n * abs(CAST("net ""income""" AS DOUBLE))) AS absolute_2
FROM "staging"."cells"
