-- title: What is known of the rows of a person: how many they are, and what their values come to
-- source: sqlmicro: aggregates of a fact table as quasi-identifiers; sums of doubles in the order of the values, which is
--   the same for the same values
-- reads: relation
-- returns: keys (as text; only rows that have all), the aggregates, n (1)
-- params: relation, keys, counts (names), sums, averages, least, greatest (pairs: a column, the name of the aggregate)
SELECT
  CAST("whose_4" AS VARCHAR) AS "whose_4",
  count(*) AS "count_7",
  sum("cost_3" ORDER BY "cost_3") AS "sum_8",
  avg("cost_3" ORDER BY "cost_3") AS "avg_9",
  min("cost_3") AS "min_10",
  max("cost_3") AS "max_11",
  1 AS n
FROM "staging"."visits"
WHERE NOT (false OR "whose_4" IS NULL)
GROUP BY ALL
