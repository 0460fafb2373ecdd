-- title: The records with the group they are in
-- source: sqlmicro
-- reads: groups, relation
-- returns: label, the columns
-- params: groups, relation, columns
SELECT
  g.label
  , r."net ""income"""
  , r."x"
FROM "staging"."groups" AS g
JOIN "staging"."typed" AS r USING (row_id)
