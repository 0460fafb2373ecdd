-- title: What a table's columns look like
-- source: sqlmicro
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   spread (largest minus smallest whole number, NULL for other types)
-- params: relation, integers, others
SELECT
  'net "income"' AS column_name,
  count(*) AS row_count,
  count(*) - count("net ""income""") AS nulls,
  count(DISTINCT "net ""income""") AS distinct_values,
  CAST(max("net ""income""") AS HUGEINT) - CAST(min("net ""income""") AS HUGEINT) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'wide' AS column_name,
  count(*) AS row_count,
  count(*) - count("wide") AS nulls,
  count(DISTINCT "wide") AS distinct_values,
  CAST(max("wide") AS HUGEINT) - CAST(min("wide") AS HUGEINT) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'empty' AS column_name,
  count(*) AS row_count,
  count(*) - count("empty") AS nulls,
  count(DISTINCT "empty") AS distinct_values,
  CAST(max("empty") AS HUGEINT) - CAST(min("empty") AS HUGEINT) AS spread
FROM "staging"."persons"
UNION ALL
SELECT
  'name',
  count(*),
  count(*) - count("name"),
  count(DISTINCT "name"),
  NULL
FROM "staging"."persons"
UNION ALL
SELECT
  'x',
  count(*),
  count(*) - count("x"),
  count(DISTINCT "x"),
  NULL
FROM "staging"."persons"
UNION ALL
SELECT NULL, 0, 0, 0, NULL WHERE false
