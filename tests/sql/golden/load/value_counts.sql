-- title: The values of a column as text, and how many records have each
-- source: sqlmicro
-- reads: relation
-- returns: value, n; without the missing ones
-- params: relation, column
SELECT
  CAST(r."net ""income""" AS VARCHAR) AS value,
  count(*) AS n
FROM "staging"."people" AS r
WHERE r."net ""income""" IS NOT NULL
GROUP BY r."net ""income"""
ORDER BY 1
