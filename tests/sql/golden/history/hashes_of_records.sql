-- title: What tells some values of every record from others
-- source: sqlmicro: as hashes that only the secret makes; a later night of a series tells by them what has changed
-- reads: relation
-- returns: in the order of row_id: row_id, hashed
-- params: stream (variable with the key), relation, columns
SELECT row_id, CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "c1", "c2"))), 1, 15)) AS BIGINT) AS hashed
FROM "staging"."relation"
ORDER BY row_id
