-- title: The group of every record, some of which have changed seats
-- source: sqlmicro
-- reads: groups (row_id, label), seats (row_id, label, of some records)
-- returns: row_id, label
-- params: groups, seats
SELECT
  g.row_id,
  coalesce(s.label, g.label) AS label
FROM {{ groups | ident }} AS g
LEFT JOIN {{ seats | ident }} AS s
  ON g.row_id = s.row_id
