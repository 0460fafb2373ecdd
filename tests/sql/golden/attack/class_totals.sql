-- title: The classes of two releases, and how many records each release has of them
-- source: sqlmicro: a class that both have alike cancels in the difference of their totals
-- reads: first, second (values of the releases)
-- returns: x1, x2, … (the values of the class, in the order of the columns), before (records of the first release),
--   after (records of the second)
-- params: first, second, columns (of the first), others (the same columns of the second)
SELECT
  x1,
  x2,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
    "x" AS x1,
    "net ""income""" AS x2,
    1 AS before,
    0 AS after
  FROM "staging"."first"
  UNION ALL
  SELECT
    "x" AS x1,
    "size_" AS x2,
    0 AS before,
    1 AS after
  FROM "staging"."second")
GROUP BY ALL
ORDER BY ALL
