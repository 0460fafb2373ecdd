-- title: The records with the random numbers that a method draws for them
-- source: sqlmicro: a number is 60 bits of a keyed hash of the record and the values that it is drawn for; the same value
--   of the same person draws the same number again, whatever other records there are. See sqlmicro/system/secrets.py
-- reads: relation (with record)
-- returns: the columns of relation; draw_1, draw_2, …, from 0 to 2^60
-- params: relation, streams (variable with the key, columns), draws (name, hash, first of its 15 digits)
WITH hashed AS (
  SELECT
    *
    , sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "town"))) AS hash_1
    , sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record))) AS hash_2
  FROM "staging"."typed"
)
SELECT
  *
  , CAST(concat('0x', substr("hash_1", 1, 15)) AS BIGINT) AS "draw_1"
  , CAST(concat('0x', substr("hash_1", 16, 15)) AS BIGINT) AS "draw_2"
  , CAST(concat('0x', substr("hash_2", 1, 15)) AS BIGINT) AS "draw_3"
FROM hashed
