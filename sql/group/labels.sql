-- title: The group of every record, for a kernel
-- source: sqlmicro
-- reads: groups
-- returns: in the order of row_id: row_id, label, value
-- params: groups
SELECT
  row_id,
  label,
  value
FROM {{ groups | ident }}
ORDER BY row_id
