-- title: The records that are treated
-- source: sqlmicro
-- reads: relation, chosen (row_id)
-- returns: the columns of relation
-- params: relation, chosen
SELECT r.*
FROM {{ relation | ident }} AS r
SEMI JOIN {{ chosen | ident }} AS c USING (row_id)
