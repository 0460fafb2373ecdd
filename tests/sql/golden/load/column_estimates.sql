-- title: About how many distinct values every column of a large table has, in one pass and constant memory
-- source: Flajolet, Fusy, Gandouet & Meunier (2007), HyperLogLog
-- reads: relation
-- returns: one row: row_count; for every column how many values it has and about how many are distinct; for every column of
--   whole numbers, in their order, the largest minus the smallest, and the smallest
-- params: relation, columns, integers
SELECT
  count(*) AS row_count
  , count(r."name") AS present_1, approx_count_distinct(r."name") AS distinct_1, count(r."net ""income""") AS present_2, approx_count_distinct(r."net ""income""") AS distinct_2
  , CAST(max(r."net ""income""") AS DOUBLE) - CAST(min(r."net ""income""") AS DOUBLE) AS spread_1, CAST(min(r."net ""income""") AS DOUBLE) AS smallest_1
FROM "staging"."persons" AS r
