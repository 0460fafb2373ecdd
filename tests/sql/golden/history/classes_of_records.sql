-- title: The class of every record of a release, and what its totals have of it, by a keyed hash of who it is about
-- source: sqlmicro: what later releases of the same people are measured with. Who it is, is the row key or the content that
--   was read, of which copies are numbered; without the key, which is in no database, nobody can tell
-- reads: classed, original (as it was loaded)
-- returns: who, class, value (a keyed hash of what was averaged; 0 where nothing was)
-- params: stream (variable with the key), classed, original, identity (record, or the key of the table), columns (the number
--   of a copy), averaged (columns of original)
SELECT
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "copy"))), 1, 15)) AS BIGINT) AS who,
  label AS class,
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record, "c1"))), 1, 15)) AS BIGINT) AS value
FROM (
  SELECT
    o."record" AS record,
    c.class AS label,
    o."c1",
    row_number() OVER (PARTITION BY o."record" ORDER BY c.class) AS copy
  FROM "staging"."classed" AS c
  JOIN "staging"."original" AS o ON c.row_id = o.row_id)
