-- title: The records as they are published, each put in order by itself, where relations have no order
-- source: sqlmicro: every record goes by the first 64 bits of a keyed hash of its number, which itself is left out
-- reads: records
-- returns: the columns under their own names
-- params: records, columns
SELECT
  "row_id_" AS "row_id",
  "own" AS "own"
FROM "staging"."records"
ORDER BY substr(sha256(concat(getvariable('sqlmicro_order'), ' ', row_id)), 1, 16)
