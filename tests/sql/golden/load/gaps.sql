-- title: How many values of each column are missing, and how many are no finite number
-- source: sqlmicro
-- reads: typed
-- returns: column_name, nulls, not_finite (NaN and infinities; 0 for columns that cannot hold them)
-- params: typed, floats, others
SELECT
  'net "income"' AS column_name,
  count(*) - count("net ""income""") AS nulls,
  count(*) FILTER (WHERE NOT isfinite("net ""income""")) AS not_finite
FROM "staging"."typed"
UNION ALL
SELECT
  'size' AS column_name,
  count(*) - count("size_") AS nulls,
  count(*) FILTER (WHERE NOT isfinite("size_")) AS not_finite
FROM "staging"."typed"
UNION ALL
SELECT
  'name' AS column_name,
  count(*) - count("name") AS nulls,
  0 AS not_finite
FROM "staging"."typed"
UNION ALL
SELECT NULL, 0, 0 WHERE false
