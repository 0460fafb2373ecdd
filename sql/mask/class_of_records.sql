-- title: The class of every record, 0 for one that the recoding does not know
-- source: sqlmicro
-- reads: relation, classes (row_id, label from 1)
-- returns: row_id, label, in the order of row_id
-- params: relation, classes
SELECT
  r.row_id,
  coalesce(c.label, 0) AS label
FROM {{ relation | ident }} AS r
LEFT JOIN {{ classes | ident }} AS c USING (row_id)
ORDER BY r.row_id
