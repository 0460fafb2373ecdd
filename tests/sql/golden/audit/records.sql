-- title: The records as an audit sees them: every value by its canonical bytes, under the names of staging
-- source: sqlmicro: what is told apart in the output is told apart here. GROUP BY would merge Bob and BOB under a collation,
--   1 month and 30 days, -0.0 and 0.0, NaN and NaN; such columns are compared as the bytes of their text, floating-point
--   numbers as their bits
-- reads: relation
-- returns: the columns, n (1: every record counts once); only records that have a value in every one of `complete`
-- params: relation, plain, as_bytes, as_bits, complete
SELECT
  encode(CAST(CAST("x" AS BIT) AS VARCHAR)) AS "x",
  encode(CAST(CAST("l" AS BIT[]) AS VARCHAR)) AS "l",
  1 AS n
FROM "staging"."released"
WHERE NOT (false)
