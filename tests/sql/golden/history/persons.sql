-- title: Who every record is about, and what may not differ within a class of a series
-- source: sqlmicro; who it is, is hashed as in history/classes_of_records.sql, so that a person is forgotten in both
-- reads: relation
-- returns: in the order of row_id: row_id, record, who, stratum, sensitive (hashes of these columns together)
-- params: stream (variable with the key), relation, columns (the number of a copy), by, sensitive
SELECT
  row_id,
  record,
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "copy"))), 1, 15)) AS BIGINT) AS who,
  CAST(hash(0, CAST("c1" AS VARCHAR), CAST("c2" AS VARCHAR)) >> 1 AS BIGINT) AS stratum,
  CAST(hash(0, CAST("c2" AS VARCHAR)) >> 1 AS BIGINT) AS sensitive
FROM (SELECT *, CAST(1 AS BIGINT) AS copy FROM "staging"."relation")
ORDER BY row_id
