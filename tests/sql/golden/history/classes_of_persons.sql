-- title: The classes of every person of a release, by a keyed hash of who it is
-- source: sqlmicro: as history/classes_of_records.sql, where persons have many records; those without a person are one
-- reads: classed, original (as it was loaded)
-- returns: who, class; a person is in as many classes as her records are
-- params: stream (variable with the key), classed, original, person
SELECT DISTINCT
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', person)), 1, 15)) AS BIGINT) AS who,
  class
FROM (
  SELECT hash(o."p") AS person, c.class
  FROM "staging"."classed" AS c
  JOIN "staging"."original" AS o ON c.row_id = o.row_id)
