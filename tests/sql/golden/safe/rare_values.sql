-- title: How many values some columns have, and how many records have one of those that few have
-- source: sqlmicro: no table of a column can be kept where most records have a value that hardly anybody else has
-- reads: cells
-- returns: place (of the column, from 1), its values (NULL is one), records in all, with a value of fewer than `few`
--   records, and with one of fewer than k
-- params: cells, columns, few, k
SELECT
  1 AS place,
  count(*) AS distinct_values,
  sum(n) AS records,
  coalesce(sum(n) FILTER (WHERE n < 3), 0) AS with_few,
  coalesce(sum(n) FILTER (WHERE n < 2), 0) AS below_k
FROM (
  SELECT sum(n) AS n
  FROM "staging"."cells"
  GROUP BY "sex")
UNION ALL
SELECT
  2 AS place,
  count(*) AS distinct_values,
  sum(n) AS records,
  coalesce(sum(n) FILTER (WHERE n < 3), 0) AS with_few,
  coalesce(sum(n) FILTER (WHERE n < 2), 0) AS below_k
FROM (
  SELECT sum(n) AS n
  FROM "staging"."cells"
  GROUP BY "net ""income""")
