-- title: The group of every record, where some groups were united
-- source: sqlmicro
-- reads: groups (row_id, label, value), united (the group that every group is part of)
-- returns: row_id, label, value
-- params: groups, united
SELECT
  g.row_id,
  u.united AS label,
  g.value
FROM {{ groups | ident }} AS g
JOIN {{ united | ident }} AS u USING (label)
