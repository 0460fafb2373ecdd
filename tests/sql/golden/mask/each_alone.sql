-- title: Every record as a unit of its own
-- source: sqlmicro
-- reads: relation
-- returns: row_id, unit (the same)
-- params: relation
SELECT
  row_id,
  row_id AS unit
FROM "staging"."records"
