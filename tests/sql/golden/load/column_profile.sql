-- title: What a table's columns look like
-- source: sqlmicro
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   spread (largest minus smallest whole number, NULL for other types); text
--   under a collation is told apart as it is written
-- params: relation, integers, collated, others
SELECT
  'net "income"' AS column_name,
  count(*) AS row_count,
  count(*) - count("net ""income""") AS nulls,
  count(DISTINCT "net ""income""") AS distinct_values,
  CAST(max("net ""income""") AS DOUBLE) - CAST(min("net ""income""") AS DOUBLE) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'wide' AS column_name,
  count(*) AS row_count,
  count(*) - count("wide") AS nulls,
  count(DISTINCT "wide") AS distinct_values,
  CAST(max("wide") AS DOUBLE) - CAST(min("wide") AS DOUBLE) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'empty' AS column_name,
  count(*) AS row_count,
  count(*) - count("empty") AS nulls,
  count(DISTINCT "empty") AS distinct_values,
  CAST(max("empty") AS DOUBLE) - CAST(min("empty") AS DOUBLE) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'name' AS column_name,
  count(*) AS row_count,
  count(*) - count("name") AS nulls,
  count(DISTINCT "name") AS distinct_values,
  NULL AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'x' AS column_name,
  count(*) AS row_count,
  count(*) - count("x") AS nulls,
  count(DISTINCT "x") AS distinct_values,
  NULL AS spread
FROM "staging"."persons"
UNION ALL
SELECT NULL, 0, 0, 0, NULL WHERE false
