-- title: The keys of a list of changes, each once
-- source: sqlmicro
-- reads: relation (the row keys of what has come, changed or gone)
-- returns: record (as in load/typed.sql)
-- params: relation, row_key
SELECT DISTINCT hash(CAST("id" AS VARCHAR)) AS record
FROM "staging"."relation"
