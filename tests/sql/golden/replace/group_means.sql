-- title: The mean of every group in every column
-- source: Defays & Nanopoulos (1993). A group has no value where most of its records have none (--nulls keep); the values
--   are added in ascending order, so that the mean does not depend on the number of threads
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
SELECT
  label
  , CASE WHEN 2 * count("x") >= count(*) THEN
      list_sum(list_sort(list(CAST("x" AS DOUBLE)) FILTER (WHERE "x" IS NOT NULL)))
      / count("x")
    END AS "x"
  , CASE WHEN 2 * count("net ""income""") >= count(*) THEN
      list_sum(list_sort(list(CAST("net ""income""" AS DOUBLE)) FILTER (WHERE "net ""income""" IS NOT NULL)))
      / count("net ""income""")
    END AS "net ""income"""
FROM "staging"."grouped"
GROUP BY label
