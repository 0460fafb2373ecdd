-- title: How many values of each column of floating-point numbers equal others that are written differently
-- source: IEEE 754: -0.0 = 0.0; in DuckDB every NaN equals every other, whatever its sign and payload
-- reads: relation
-- returns: column_name, ambiguous
-- params: relation, columns
SELECT
  'x' AS column_name,
  count(*) FILTER (
    WHERE isnan("x") OR ("x" = 0 AND signbit("x"))) AS ambiguous
FROM "staging"."released"
UNION ALL
SELECT
  'y' AS column_name,
  count(*) FILTER (
    WHERE isnan("y") OR ("y" = 0 AND signbit("y"))) AS ambiguous
FROM "staging"."released"
