-- title: How many rows every published value of a column has, within its stratum
-- source: sqlmicro; as history/rows_of_classes.sql, column by column
-- reads: published (a table or file, under the names of the release)
-- returns: class (a hash of column, stratum and value), rows
-- params: published, parts (a number, columns, and these by how they are hashed: kinds)
SELECT
  CAST(hash("c2", "c1", signbit("c1"), 1) >> 1 AS BIGINT) AS class,
  count(*) AS rows
FROM (
  SELECT 0 AS nothing
    , CAST("sex" AS VARCHAR) AS "c2"
    , CAST("net ""income""" AS DOUBLE) AS "c1"
  FROM "staging"."published")
GROUP BY class
UNION ALL
SELECT
  CAST(hash("c2", 2) >> 1 AS BIGINT) AS class,
  count(*) AS rows
FROM (
  SELECT 0 AS nothing
    , CAST("sex" AS VARCHAR) AS "c2"
  FROM "staging"."published")
GROUP BY class
