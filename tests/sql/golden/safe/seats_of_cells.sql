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
FROM "staging"."groups" AS g
JOIN "staging"."relation" AS r
  ON g.row_id = r.row_id
JOIN "staging"."cells" AS c
  ON r."sex" IS NOT DISTINCT FROM c."sex" AND r."net ""income""" IS NOT DISTINCT FROM c."net ""income"""
JOIN "staging"."wanted" AS w
  ON c.cell = w.cell
JOIN "staging"."members" AS p
  ON g.row_id = p.row_id
ORDER BY g.row_id
