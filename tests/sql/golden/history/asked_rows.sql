-- title: Some rows of a source, of the columns that are used
-- source: sqlmicro: those that a night of a series has to read
-- reads: relation (the user's table), asked (record, as in load/typed.sql)
-- returns: the columns, under their own names
-- params: relation, row_key, columns, asked
SELECT "part", "x"
FROM "staging"."relation"
WHERE hash(CAST("id" AS VARCHAR), CAST("part" AS VARCHAR)) IN (SELECT record FROM "staging"."asked")
