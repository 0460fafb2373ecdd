-- title: The records in the order that a run with the key of the session would have released them in
-- source: sqlmicro: the order of load/shuffled.sql
-- reads: relation (position, record)
-- returns: position
-- params: relation
SELECT position
FROM {{ relation | ident }}
ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' ', record))
