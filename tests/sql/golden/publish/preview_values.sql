-- title: The records of a preview as they would be published, in the order of its marks
-- source: sqlmicro: the order is a keyed hash of the record's number, which itself is left out
-- reads: records
-- returns: the columns under their own names
-- params: records, columns
SELECT
  "row_id_" AS "row_id",
  "x" AS "x"
FROM "staging"."records"
ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' ', row_id))
