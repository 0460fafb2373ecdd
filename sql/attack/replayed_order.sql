-- title: The records in the order that a run with the key of the session would have released them in
-- source: sqlmicro: the order of publish/records.sql
-- reads: relation (position, row_id)
-- returns: position
-- params: relation
SELECT position
FROM {{ relation | ident }}
ORDER BY sha256(concat(getvariable('sqlmicro_key'), ' ', row_id))
