-- title: The records as an audit sees them: every value by its canonical bytes, under the names of staging
-- source: sqlmicro: what is told apart in the output is told apart here. GROUP BY would merge Bob and BOB under a collation,
--   1 month and 30 days, -0.0 and 0.0; such columns are compared as the bytes of their text
-- reads: relation
-- returns: the columns, n (1: every record counts once); only records that have a value in every one of `complete`
-- params: relation, plain, as_bytes, complete
SELECT
  "size" AS "size_",
  encode(CAST("name" AS VARCHAR)) AS "name",
  encode(CAST("span" AS VARCHAR)) AS "span",
  1 AS n
FROM "staging"."released"
WHERE NOT (false OR "size" IS NULL)
