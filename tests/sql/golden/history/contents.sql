-- title: Some persons of a release by a keyed hash of what they have
-- source: sqlmicro: whether the same key still stands for the same persons. Those whose content nobody else has and whose
--   hashes are the lowest are taken, so that two releases of the same people take the same
-- reads: original (as it was loaded)
-- returns: who, value
-- params: stream (variable with the key), original, identity (what says who it is), columns (the number of a copy), most
--   (persons)
SELECT
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "copy"))), 1, 15)) AS BIGINT) AS who,
  value
FROM (
  SELECT identity AS record, 1 AS copy, CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', text)), 1, 15)) AS BIGINT) AS value
  FROM (
    SELECT any_value("key_0") AS identity, concat('=', record) AS text
    FROM "staging"."original"
    GROUP BY record
    HAVING count(*) = 1)
  ORDER BY value
  LIMIT 1)
