-- title: By how many days the dates of every person are moved
-- source: Hripcsak, Mirhaji, Low & Malin (2016); the offset is a keyed hash of the text of the person's key, so that it
--   is the same in every table, uniform over the 2 within + 1 whole days but for 2^-40; persons without a key are one
-- reads: original (the records as they were read)
-- returns: row_id; person, a keyed hash; missing, whether there is no key; days
-- params: original, person, stream, within
WITH known AS (
  SELECT
    row_id,
    concat({{ person | listed("coalesce(sha256(CAST({} AS VARCHAR)), 'missing')") }}) AS person,
    coalesce({{ person | listed("CAST({} AS VARCHAR)") }}) IS NULL AS missing
  FROM {{ original | ident }}
), hashed AS (
  SELECT
    row_id,
    {{ stream | draw("person") }} AS person,
    missing
  FROM known
)
SELECT
  row_id,
  person,
  missing,
  CAST(concat('0x', substr(person, 1, 15)) AS BIGINT) % (2 * {{ within | lit }} + 1) - {{ within | lit }} AS days
FROM hashed
