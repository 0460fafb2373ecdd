-- title: The combinations of values of a release, and how many records have each
-- source: sqlmicro: records that are alike in all that an attacker looks at need not be told apart
-- reads: released (values)
-- returns: the columns, n (how many records)
-- params: released, columns
SELECT
  "net ""income""", "name",
  count(*) AS n
FROM "staging"."released"
GROUP BY "net ""income""", "name"
