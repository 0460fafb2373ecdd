-- title: The unit that every record belongs to, for a kernel
-- source: sqlmicro
-- reads: members (row_id, unit)
-- returns: in the order of row_id: unit
-- params: members
SELECT unit
FROM {{ members | ident }}
ORDER BY row_id
