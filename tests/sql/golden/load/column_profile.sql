-- title: What a table's columns look like
-- source: sqlmicro: every column is grouped by itself, which costs no more than counting its distinct values does
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   low and high where all values are whole numbers, also those of other types than integers, fives (how many of these 5
--   divides); text under a collation is told apart as it is written
-- params: relation, integers, numbers (of other types than integers), collated, others
SELECT
  'net "income"' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(min(value) AS DOUBLE) AS low,
  CAST(max(value) AS DOUBLE) AS high,
  count(*) FILTER (WHERE value % 5 = 0) AS fives
FROM (SELECT "net ""income""" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "net ""income""") AS found
UNION ALL
SELECT
  'wide' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(min(value) AS DOUBLE) AS low,
  CAST(max(value) AS DOUBLE) AS high,
  count(*) FILTER (WHERE value % 5 = 0) AS fives
FROM (SELECT "wide" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "wide") AS found
UNION ALL
SELECT
  'empty' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(min(value) AS DOUBLE) AS low,
  CAST(max(value) AS DOUBLE) AS high,
  count(*) FILTER (WHERE value % 5 = 0) AS fives
FROM (SELECT "empty" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "empty") AS found
UNION ALL
SELECT
  'x' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(min(value) AS DOUBLE) END AS low,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(max(value) AS DOUBLE) END AS high,
  count(*) FILTER (WHERE abs(value) < 1e15 AND value = 5 * floor(value / 5)) AS fives
FROM (SELECT "x" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "x") AS found
UNION ALL
SELECT
  'y' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(min(value) AS DOUBLE) END AS low,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(max(value) AS DOUBLE) END AS high,
  count(*) FILTER (WHERE abs(value) < 1e15 AND value = 5 * floor(value / 5)) AS fives
FROM (SELECT "y" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "y") AS found
UNION ALL
SELECT
  'z' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(min(value) AS DOUBLE) END AS low,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(max(value) AS DOUBLE) END AS high,
  count(*) FILTER (WHERE abs(value) < 1e15 AND value = 5 * floor(value / 5)) AS fives
FROM (SELECT "z" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "z") AS found
UNION ALL
SELECT
  'name' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS low,
  NULL AS high,
  0 AS fives
FROM (SELECT "name" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "name") AS found
UNION ALL
SELECT NULL, 0, 0, 0, NULL, NULL, 0 WHERE false
