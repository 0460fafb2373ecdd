-- title: How far the numeric values of a file are from the original ones
-- source: Domingo-Ferrer & Mateo-Sanz (2002): IL = 100 SSE/SST
-- reads: cells, members, released
-- returns: one row: for the i-th numeric column sse_i and sst_i, over records that have a value before and after
-- params: cells, members, released, numeric
SELECT
  count(*) AS pairs
  , sum(m.n * (CAST(c."x" AS DOUBLE) - CAST(r."x" AS DOUBLE)) ** 2) AS sse_1
  , sum(m.n * (CAST(c."x" AS DOUBLE) - t.mean_1) ** 2) AS sst_1
FROM "staging"."members" AS m
JOIN "staging"."cells" AS c USING (cell)
JOIN "staging"."released" AS r USING (label)
CROSS JOIN (
  SELECT
    0 AS nothing
    , sum(n * CAST("x" AS DOUBLE)) / sum(n) FILTER (WHERE "x" IS NOT NULL) AS mean_1
  FROM "staging"."cells") AS t
