-- title: How many rows every published combination of values has
-- source: sqlmicro; read from what was written, in the types of the release, whatever a file made of them
-- reads: published (a table or file, under the names of the release)
-- returns: class (a hash of the combination), rows
-- params: published, columns, kinds (columns by how they are hashed)
SELECT
  CAST(hash("c1", signbit("c1"), true) >> 1 AS BIGINT) AS class,
  count(*) AS rows
FROM (
  SELECT 0 AS nothing
    , CAST("net ""income""" AS DOUBLE) AS "c1"
  FROM "staging"."published")
GROUP BY class
