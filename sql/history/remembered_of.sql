-- title: What a table remembers of one earlier release
-- source: sqlmicro
-- reads: remembered (release, the columns)
-- returns: the columns
-- params: remembered, columns, release
SELECT {{ columns | idents }}
FROM {{ remembered | ident }}
WHERE release = {{ release | lit }}
