-- title: The classes of every person of a release, and what its totals have of her, by a keyed hash of who it is
-- source: sqlmicro: as history/classes_of_records.sql, where persons have many records; those without a person are one
-- reads: classed, original (as it was loaded)
-- returns: who, class, value (a sum of keyed hashes of what was averaged of her records there, modulo 2^60); a person is in
--   as many classes as her records are
-- params: stream (variable with the key), classed, original, person, averaged (columns of original)
SELECT
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', person)), 1, 15)) AS BIGINT) AS who,
  label AS class,
  CAST(sum(CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), person, "c1"))), 1, 15)) AS BIGINT)) % 1152921504606846976 AS BIGINT) AS value
FROM (
  SELECT hash(o."p") AS person, c.class AS label, o."c1"
  FROM "staging"."classed" AS c
  JOIN "staging"."original" AS o ON c.row_id = o.row_id)
GROUP BY person, label
