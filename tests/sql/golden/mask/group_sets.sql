-- title: The values of a nominal column in every group, as text
-- source: LeFevre, DeWitt & Ramakrishnan (2006)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  CASE
    WHEN count(DISTINCT "land") = 1 THEN CAST(min("land") AS VARCHAR)
    ELSE '{' || array_to_string(list_sort(list(DISTINCT CAST("land" AS VARCHAR))), ', ') || '}'
  END
  || CASE WHEN count(*) > count("land") THEN ' or missing' ELSE '' END AS "land"
FROM "staging"."grouped"
GROUP BY label
