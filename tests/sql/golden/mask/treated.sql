-- title: The records that are treated
-- source: sqlmicro
-- reads: relation, chosen (row_id)
-- returns: the columns of relation
-- params: relation, chosen
SELECT r.*
FROM "staging"."records" AS r
SEMI JOIN "staging"."chosen" AS c USING (row_id)
