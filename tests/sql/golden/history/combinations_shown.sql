-- title: The values of every published combination that no earlier night of a series has shown, as texts
-- source: sqlmicro; numbered as in rows_of_classes.sql
-- reads: published (a table or file, under the names of the release), known (class)
-- returns: class, column_name (of staging), value
-- params: published, known, columns, kinds (columns by how they are hashed)
WITH combinations AS (
  SELECT
    CAST(hash(CAST("net ""income""" AS VARCHAR), true) >> 1 AS BIGINT) AS class
    , any_value("net ""income""") AS "net ""income"""
  FROM (
    SELECT 0 AS nothing
      , CAST("net ""income""" AS VARCHAR) AS "net ""income"""
    FROM "staging"."published")
  GROUP BY class
)
SELECT class, '' AS column_name, '' AS value
FROM combinations
WHERE false
UNION ALL
SELECT class, 'net "income"', CAST("net ""income""" AS VARCHAR)
FROM combinations
WHERE class NOT IN (SELECT class FROM "staging"."known")
