-- title: The representative of its group for every record
-- source: sqlmicro
-- reads: groups, representatives
-- returns: row_id, the columns
-- params: groups, representatives, columns
SELECT
  g.row_id
  , r."x"
  , r."net ""income"""
FROM "staging"."groups" AS g
JOIN "staging"."representatives" AS r USING (label)
