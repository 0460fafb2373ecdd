-- title: What a table remembers of one earlier release
-- source: sqlmicro
-- reads: remembered (release, the columns)
-- returns: the columns
-- params: remembered, columns, release
SELECT "class", "column_name"
FROM "staging"."remembered"
WHERE release = 3
