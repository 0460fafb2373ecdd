-- title: The mean of every group in every column, where whole numbers of 128 bits cost more than lists
-- source: as replace/group_means.sql. A group has no value where most of its records have none (--nulls keep); the values
--   are added in ascending order, so that the mean does not depend on the number of threads, and it does not leave the
--   range of its values by a rounding error
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
SELECT
  label
  , CASE WHEN 2 * count("x") >= count(*) THEN
      greatest(min(CAST("x" AS DOUBLE)), least(
        list_sum(list_sort(list(CAST("x" AS DOUBLE)) FILTER (WHERE "x" IS NOT NULL)))
        / count("x"),
        max(CAST("x" AS DOUBLE))))
    END AS "x"
  , CASE WHEN 2 * count("net ""income""") >= count(*) THEN
      greatest(min(CAST("net ""income""" AS DOUBLE)), least(
        list_sum(list_sort(list(CAST("net ""income""" AS DOUBLE)) FILTER (WHERE "net ""income""" IS NOT NULL)))
        / count("net ""income"""),
        max(CAST("net ""income""" AS DOUBLE))))
    END AS "net ""income"""
FROM "staging"."grouped"
GROUP BY label
