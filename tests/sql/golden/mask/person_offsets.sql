-- title: By how many days the dates of every person are moved
-- source: Hripcsak, Mirhaji, Low & Malin (2016); the offset is a keyed hash of the text of the person's key, so that it
--   is the same in every table, uniform over the 2 within + 1 whole days but for 2^-40; persons without a key are one
-- reads: original (the records as they were read)
-- returns: row_id; person, a keyed hash; missing, whether there is no key; days
-- params: original, person, stream, within
WITH known AS (
  SELECT
    row_id,
    concat(coalesce(sha256(CAST("""who""" AS VARCHAR)), 'missing'), coalesce(sha256(CAST("clinic" AS VARCHAR)), 'missing')) AS person,
    coalesce(CAST("""who""" AS VARCHAR), CAST("clinic" AS VARCHAR)) IS NULL AS missing
  FROM "staging"."read"
), hashed AS (
  SELECT
    row_id,
    sha256(concat(getvariable('sqlmicro_order'), ' ', person)) AS person,
    missing
  FROM known
)
SELECT
  row_id,
  person,
  missing,
  CAST(concat('0x', substr(person, 1, 15)) AS BIGINT) % (2 * 30 + 1) - 30 AS days
FROM hashed
