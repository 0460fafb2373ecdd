-- title: Some rows of a source, of the columns that are used
-- source: sqlmicro: those that a night of a series has to read
-- reads: relation (the user's table), asked (record, as in load/typed.sql)
-- returns: the columns, under their own names
-- params: relation, row_key, columns, asked
SELECT {{ columns | listed("{name}") }}
FROM {{ relation | ident }}
WHERE hash({{ row_key | listed("CAST({name} AS VARCHAR)") }}) IN (SELECT record FROM {{ asked | ident }})
