-- title: Rows of a series in the order of their keys
-- source: sqlmicro
-- reads: relation
-- returns: in the order of the keys: its columns
-- params: relation, keys
SELECT *
FROM "staging"."relation"
ORDER BY "class", "value"
