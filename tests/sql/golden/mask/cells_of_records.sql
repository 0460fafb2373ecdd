-- title: The combination of values that every record has, by its number, with its weight
-- source: sqlmicro; a weight that is missing, NaN or infinite is 0, as in audit/cells.sql
-- reads: relation, cells
-- returns: in the order of row_id: row_id, cell, weight
-- params: relation, cells, columns, weights (none, or a column)
SELECT
  r.row_id,
  c.cell
  , CASE WHEN isfinite(CAST(r."w" AS DOUBLE)) THEN CAST(r."w" AS DOUBLE) ELSE 0
    END AS weight
FROM "staging"."typed" AS r
JOIN "staging"."cells" AS c
  ON r."net ""income""" IS NOT DISTINCT FROM c."net ""income""" AND r."land" IS NOT DISTINCT FROM c."land"
ORDER BY r.row_id
