-- title: How many values of each column are missing, and how many are no number that can be squared
-- source: sqlmicro
-- reads: typed
-- returns: column_name, nulls, unusable (NaN, infinities, beyond 1e150; 0 for columns that cannot hold them)
-- params: typed, floats, others
SELECT
  'net "income"' AS column_name,
  count(*) - count("net ""income""") AS nulls,
  count(*) FILTER (WHERE isnan("net ""income""") OR abs("net ""income""") > 1e150) AS unusable
FROM "staging"."typed"
UNION ALL
SELECT
  'size' AS column_name,
  count(*) - count("size_") AS nulls,
  count(*) FILTER (WHERE isnan("size_") OR abs("size_") > 1e150) AS unusable
FROM "staging"."typed"
UNION ALL
SELECT
  'name' AS column_name,
  count(*) - count("name") AS nulls,
  0 AS unusable
FROM "staging"."typed"
UNION ALL
SELECT NULL, 0, 0 WHERE false
