-- title: How many records have what should identify them in common with another
-- source: sqlmicro
-- reads: relation (by row_id)
-- returns: repeated
-- params: relation
SELECT count(*) - count(DISTINCT row_id) AS repeated
FROM {{ relation | ident }}
