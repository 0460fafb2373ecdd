-- title: The values of the classes of a series, of those that are remembered and of those opened tonight
-- source: sqlmicro
-- reads: remembered, opened (class, column_name, value as text)
-- returns: label, the columns in the types of staging
-- params: remembered, opened, columns (name in staging, type)
SELECT
  class AS label
  , CAST(max(value) FILTER (WHERE column_name = 'net "income"') AS DOUBLE) AS "c1"
  , CAST(max(value) FILTER (WHERE column_name = 'sex') AS VARCHAR) AS "c2"
FROM (SELECT class, column_name, value FROM "staging"."remembered" UNION ALL SELECT class, column_name, value FROM "staging"."opened")
GROUP BY class
