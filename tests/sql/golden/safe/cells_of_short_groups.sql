-- title: The cells that have records in a group of fewer than k persons
-- source: sqlmicro
-- reads: groups (row_id, label), relation, cells, members (row_id, counted: the number of the person)
-- returns: in order: cell
-- params: groups, relation, cells, members, columns, k
WITH short_groups AS (
  SELECT g.label
  FROM "staging"."groups" AS g
  JOIN "staging"."members" AS p
    ON g.row_id = p.row_id
  GROUP BY g.label
  HAVING count(DISTINCT p.counted) < 2
)
SELECT DISTINCT c.cell
FROM "staging"."groups" AS g
JOIN short_groups AS s
  ON g.label = s.label
JOIN "staging"."relation" AS r
  ON g.row_id = r.row_id
JOIN "staging"."cells" AS c
  ON r."sex" IS NOT DISTINCT FROM c."sex" AND r."net ""income""" IS NOT DISTINCT FROM c."net ""income"""
ORDER BY c.cell
