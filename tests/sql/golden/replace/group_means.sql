-- title: The mean of every group in every column
-- source: Defays & Nanopoulos (1993). A group has no value where most of its records have none (--nulls keep). The sum does
--   not depend on the number of threads: numbers are counted in a power of two that divides all of a column, where 2^126
--   of it are more than all records have together, which adds them exactly in whatever order; numbers that differ by more,
--   as a placeholder of 1e38 among incomes does, are added in ascending order. A mean does not leave the range of its
--   values by a rounding error
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
WITH bounds AS (
  SELECT
    count(*) + 1 AS records
    , coalesce(min(abs(CAST("x" AS DOUBLE))) FILTER (WHERE "x" <> 0), 1) AS least_1
    , coalesce(max(abs(CAST("x" AS DOUBLE))) FILTER (WHERE "x" <> 0), 1) AS most_1
    , coalesce(min(abs(CAST("net ""income""" AS DOUBLE))) FILTER (WHERE "net ""income""" <> 0), 1) AS least_2
    , coalesce(max(abs(CAST("net ""income""" AS DOUBLE))) FILTER (WHERE "net ""income""" <> 0), 1) AS most_2
  FROM "staging"."grouped"
),
wholes AS (
  SELECT
    records
    , CASE WHEN least_1 > 1e-250
      AND log2(most_1) - log2(least_1) + log2(records) < 68
      THEN pow(2, 54 - floor(log2(least_1))) END AS per_one_1
    , CASE WHEN least_2 > 1e-250
      AND log2(most_2) - log2(least_2) + log2(records) < 68
      THEN pow(2, 54 - floor(log2(least_2))) END AS per_one_2
  FROM bounds
)
SELECT
  g.label
  , CASE WHEN 2 * count(g."x") >= count(*) THEN
      greatest(min(CAST(g."x" AS DOUBLE)), least(
        coalesce(
          CAST(sum(CAST(CAST(g."x" AS DOUBLE) * w.per_one_1 AS HUGEINT)) AS DOUBLE)
            / any_value(w.per_one_1),
          list_sum(list_sort(list(CAST(g."x" AS DOUBLE))
            FILTER (WHERE w.per_one_1 IS NULL AND g."x" IS NOT NULL))))
        / count(g."x"),
        max(CAST(g."x" AS DOUBLE))))
    END AS "x"
  , CASE WHEN 2 * count(g."net ""income""") >= count(*) THEN
      greatest(min(CAST(g."net ""income""" AS DOUBLE)), least(
        coalesce(
          CAST(sum(CAST(CAST(g."net ""income""" AS DOUBLE) * w.per_one_2 AS HUGEINT)) AS DOUBLE)
            / any_value(w.per_one_2),
          list_sum(list_sort(list(CAST(g."net ""income""" AS DOUBLE))
            FILTER (WHERE w.per_one_2 IS NULL AND g."net ""income""" IS NOT NULL))))
        / count(g."net ""income"""),
        max(CAST(g."net ""income""" AS DOUBLE))))
    END AS "net ""income"""
FROM "staging"."grouped" AS g
CROSS JOIN wholes AS w
GROUP BY g.label
