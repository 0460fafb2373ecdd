-- title: The group of every record of a SAFE file, for a kernel
-- source: sqlmicro
-- reads: groups
-- returns: in the order of row_id: row_id, label
-- params: groups
SELECT
  row_id,
  label
FROM {{ groups | ident }}
ORDER BY row_id
