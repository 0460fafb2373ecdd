-- title: The records that are in a group
-- source: sqlmicro: records of groups that were dropped are suppressed
-- reads: relation, groups
-- returns: the columns of relation, in the order of row_id
-- params: relation, groups
SELECT r.*
FROM {{ relation | ident }} AS r
SEMI JOIN {{ groups | ident }} AS g USING (row_id)
ORDER BY r.row_id
