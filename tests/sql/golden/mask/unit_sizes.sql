-- title: The random numbers of every household, and how many records it has
-- source: sqlmicro
-- reads: drawn (row_id of the household, draws), members (row_id, unit)
-- returns: in the order of row_id: row_id, members, the draws
-- params: drawn, members, draws
SELECT
  d.row_id,
  count(*) AS members
  , any_value(d."draw_1") AS "draw_1"
  , any_value(d."draw_2") AS "draw_2"
FROM "staging"."drawn" AS d
JOIN "staging"."members" AS m ON m.unit = d.row_id
GROUP BY d.row_id
ORDER BY d.row_id
