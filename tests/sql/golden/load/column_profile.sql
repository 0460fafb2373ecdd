-- title: What a table's columns look like
-- source: sqlmicro: every column is grouped by itself, which costs no more than counting its distinct values does
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   spread (largest minus smallest whole number), smallest (of these; both are NULL for
--   other types); text under a collation is told apart as it is written
-- params: relation, integers, collated, others
SELECT
  'net "income"' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(max(value) AS DOUBLE) - CAST(min(value) AS DOUBLE) AS spread,
  CAST(min(value) AS DOUBLE) AS smallest
FROM (SELECT "net ""income""" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "net ""income""") AS found
UNION ALL
SELECT
  'wide' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(max(value) AS DOUBLE) - CAST(min(value) AS DOUBLE) AS spread,
  CAST(min(value) AS DOUBLE) AS smallest
FROM (SELECT "wide" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "wide") AS found
UNION ALL
SELECT
  'empty' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(max(value) AS DOUBLE) - CAST(min(value) AS DOUBLE) AS spread,
  CAST(min(value) AS DOUBLE) AS smallest
FROM (SELECT "empty" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "empty") AS found
UNION ALL
SELECT
  'name' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS spread,
  NULL AS smallest
FROM (SELECT "name" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "name") AS found
UNION ALL
SELECT
  'x' AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS spread,
  NULL AS smallest
FROM (SELECT "x" AS value, count(*) AS records FROM "staging"."persons" GROUP BY "x") AS found
UNION ALL
SELECT NULL, 0, 0, 0, NULL, NULL WHERE false
