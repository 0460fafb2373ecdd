-- title: The combination that every record has
-- source: sqlmicro
-- reads: relation, cells
-- returns: row_id, label (the number of the combination)
-- params: relation, cells, columns
SELECT
  r.row_id,
  c.cell AS label
FROM "staging"."typed" AS r
JOIN "staging"."cells" AS c
  ON r."net ""income""" IS NOT DISTINCT FROM c."net ""income""" AND r."x" IS NOT DISTINCT FROM c."x"
