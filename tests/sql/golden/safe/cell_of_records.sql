-- title: The cell of every record, for a kernel
-- source: sqlmicro
-- reads: relation, cells
-- returns: in the order of row_id: cell
-- params: relation, cells, columns
SELECT c.cell
FROM "staging"."relation" AS r
JOIN "staging"."cells" AS c
  ON r."sex" IS NOT DISTINCT FROM c."sex" AND r."net ""income""" IS NOT DISTINCT FROM c."net ""income"""
ORDER BY r.row_id
