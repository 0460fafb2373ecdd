-- title: The keys of a list of changes, as it is now
-- source: sqlmicro; a list may be a view that tells something else whenever it is read, so it is read once
-- reads: relation (the row keys of what has come, changed or gone)
-- returns: the row key, under its own names
-- params: relation, row_key
SELECT {{ row_key | listed("{name}") }}
FROM {{ relation | ident }}
