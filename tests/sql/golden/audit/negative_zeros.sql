-- title: How many negative zeros each column of floating-point numbers has
-- source: IEEE 754: -0.0 = 0.0, but both are written differently
-- reads: relation
-- returns: column_name, zeros
-- params: relation, columns
SELECT
  'x' AS column_name,
  count(*) FILTER (WHERE "x" = 0 AND signbit("x")) AS zeros
FROM "staging"."released"
UNION ALL
SELECT
  'y' AS column_name,
  count(*) FILTER (WHERE "y" = 0 AND signbit("y")) AS zeros
FROM "staging"."released"
