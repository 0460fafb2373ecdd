-- title: The units of a level, each with the number of its records
-- source: sqlmicro: tables of records follow who is dealt where, and by how many records it counts
-- reads: relation (row_id of a unit), members (row_id, unit)
-- returns: the columns of relation, records
-- params: relation, members
SELECT
  r.*,
  m.records
FROM "staging"."relation" AS r
JOIN (
  SELECT
    unit,
    count(*) AS records
  FROM "staging"."members"
  GROUP BY unit) AS m
  ON r.row_id = m.unit
