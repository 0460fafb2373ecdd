-- title: The records as an audit sees them: every value by its canonical bytes, under the names of staging
-- source: sqlmicro: what is told apart in the output is told apart here. GROUP BY would merge Bob and BOB under a collation,
--   1 month and 30 days, -0.0 and 0.0, NaN and NaN; such columns are compared as the bytes of their text, floating-point
--   numbers as their bits. The number 1 and the text 1 of a UNION are written alike: there the value is compared too.
--   A CAST that is the only use of a column is left to the reader of CSV by DuckDB 2.0, which makes it of the text: 1.50
--   is not 1.5 there. So no column is only cast: +x is x
-- reads: relation
-- returns: the columns, n (1: every record counts once); only records that have a value in every one of `complete`
-- params: relation, plain, as_bits (floating-point numbers), as_nested_bits (those within), as_bytes, as_both, complete
SELECT
  CAST(+"x" AS BIT) AS "x",
  encode(CAST(CAST("l" AS BIT[]) AS VARCHAR)) AS "l",
  1 AS n
FROM "staging"."released"
WHERE NOT (false)
