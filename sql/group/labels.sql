-- title: The group of every record, for a kernel
-- source: sqlmicro
-- reads: relation (the records), groups (row_id, label)
-- returns: in the order of row_id: label, -1 for a record in none
-- params: relation, groups
SELECT
  coalesce(g.label, -1) AS label
FROM {{ relation | ident }} AS r
LEFT JOIN {{ groups | ident }} AS g
  ON r.row_id = g.row_id
ORDER BY r.row_id
