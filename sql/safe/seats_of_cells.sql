-- title: The group, the cell and the person of every record of some cells
-- source: sqlmicro: numbers only; what a record of a cell is like, the cell tells
-- reads: groups (row_id, label), relation, cells, wanted (cell), members (row_id, counted: the number of the person)
-- returns: in the order of row_id: row_id, label, cell, person
-- params: groups, relation, cells, wanted, members, columns
SELECT
  g.row_id,
  g.label,
  c.cell,
  p.counted AS person
FROM {{ groups | ident }} AS g
JOIN {{ relation | ident }} AS r
  ON g.row_id = r.row_id
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
JOIN {{ wanted | ident }} AS w
  ON c.cell = w.cell
JOIN {{ members | ident }} AS p
  ON g.row_id = p.row_id
ORDER BY g.row_id
