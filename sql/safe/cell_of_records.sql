-- title: The cell of every record, for a kernel
-- source: sqlmicro
-- reads: relation, cells
-- returns: in the order of row_id: cell
-- params: relation, cells, columns
SELECT c.cell
FROM {{ relation | ident }} AS r
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
ORDER BY r.row_id
