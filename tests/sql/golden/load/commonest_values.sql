-- title: How many records have the commonest value of each column
-- source: sqlmicro: what nearly all records have depends on everything
-- reads: relation
-- returns: one row: row_count; for every column how many records have its commonest value, a missing one included
-- params: relation, columns
SELECT
  (SELECT count(*) FROM "staging"."t") AS row_count
  , (
    SELECT max(of_one.times)
    FROM (SELECT count(*) AS times FROM "staging"."t" GROUP BY "net ""income""") AS of_one
  ) AS commonest_1
  , (
    SELECT max(of_one.times)
    FROM (SELECT count(*) AS times FROM "staging"."t" GROUP BY "name") AS of_one
  ) AS commonest_2
