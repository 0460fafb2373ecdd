-- title: The stratum of every record of a night, and whether the recoding of its series knows it
-- source: sqlmicro
-- reads: relation (of recoded_night.sql)
-- returns: in the order of row_id: row_id, stratum, known
-- params: relation, strata
SELECT
  row_id,
  CAST(hash(0, CAST("land" AS VARCHAR)) >> 1 AS BIGINT) AS stratum,
  place IS NULL AS known
FROM "staging"."night"
ORDER BY row_id
