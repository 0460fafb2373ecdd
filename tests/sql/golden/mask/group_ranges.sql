-- title: The range of a numeric column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  CASE
    WHEN min("net ""income""") = max("net ""income""") THEN CAST(min("net ""income""") AS VARCHAR)
    ELSE '[' || CAST(min("net ""income""") AS VARCHAR) || ', ' || CAST(max("net ""income""") AS VARCHAR) || ']'
  END
  || CASE WHEN count(*) > count("net ""income""") THEN ' or missing' ELSE '' END AS "net ""income"""
FROM "staging"."grouped"
GROUP BY label
