-- title: The group of every record of a SAFE file, for a kernel
-- source: sqlmicro
-- reads: groups
-- returns: in the order of row_id: row_id, label
-- params: groups
SELECT
  row_id,
  label
FROM "staging"."groups"
ORDER BY row_id
