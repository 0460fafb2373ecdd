-- title: The median of every group in every column
-- source: Domingo-Ferrer & Torra (2005). A group has no value where most of its records have none (--nulls keep)
-- reads: grouped
-- returns: label, a median per column
-- params: grouped, columns
SELECT
  label
  , CASE WHEN 2 * count("x") >= count(*) THEN
      median(CAST("x" AS DOUBLE))
    END AS "x"
  , CASE WHEN 2 * count("net ""income""") >= count(*) THEN
      median(CAST("net ""income""" AS DOUBLE))
    END AS "net ""income"""
FROM "staging"."grouped"
GROUP BY label
