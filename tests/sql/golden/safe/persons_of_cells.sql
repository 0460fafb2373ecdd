-- title: The persons of every cell, with the number of their records in it
-- source: sqlmicro: how many classes of k persons there can be depends on nothing else
-- reads: relation, cells, members (row_id, counted: the number of the person)
-- returns: in the order of cell and person: cell, person, n
-- params: relation, cells, members, columns
SELECT
  c.cell,
  p.counted AS person,
  count(*) AS n
FROM "staging"."relation" AS r
JOIN "staging"."cells" AS c
  ON r."sex" IS NOT DISTINCT FROM c."sex" AND r."net ""income""" IS NOT DISTINCT FROM c."net ""income"""
JOIN "staging"."members" AS p
  ON r.row_id = p.row_id
GROUP BY c.cell, p.counted
ORDER BY c.cell, p.counted
