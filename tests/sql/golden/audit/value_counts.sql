-- title: How often the rarest value of each column occurs
-- source: sqlmicro: what microaggregation column by column promises, and all it promises; NULL counts as a value, and
--   -0.0 and 0.0 are two, as are NaN of two payloads, because the output tells them apart
-- reads: relation
-- returns: column_name, rarest (NULL for a table without records)
-- params: relation, floats, others
SELECT
  'x' AS column_name,
  min(occurrences) AS rarest
FROM (
  SELECT count(*) AS occurrences
  FROM "staging"."released"
  GROUP BY CAST("x" AS BIT))
UNION ALL
SELECT
  'net "income"' AS column_name,
  min(occurrences) AS rarest
FROM (SELECT count(*) AS occurrences FROM "staging"."released" GROUP BY "net ""income""")
UNION ALL
SELECT
  'empty' AS column_name,
  min(occurrences) AS rarest
FROM (SELECT count(*) AS occurrences FROM "staging"."released" GROUP BY "empty")
UNION ALL
SELECT NULL, 0 WHERE false
