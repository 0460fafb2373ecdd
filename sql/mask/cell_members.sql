-- title: The combination that every record has
-- source: sqlmicro
-- reads: relation, cells
-- returns: row_id, label (the number of the combination)
-- params: relation, cells, columns
SELECT
  r.row_id,
  c.cell AS label
FROM {{ relation | ident }} AS r
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
