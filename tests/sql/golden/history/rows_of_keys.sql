-- title: The rows of a source whose keys are in a list of changes, of the columns that are used
-- source: sqlmicro; as history/asked_rows.sql, without a hash of every key: a key that lacks a part is not found
-- reads: relation (the user's table), changes (the row keys of what has come, changed or gone)
-- returns: the columns, under their own names
-- params: relation, row_key, columns, changes
SELECT "part", "x"
FROM "staging"."relation"
SEMI JOIN (SELECT "id", "part" FROM "staging"."changes") AS c USING ("id", "part")
