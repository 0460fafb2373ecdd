-- title: Every value changed at random, as its range of draws says
-- source: Kooiman, Willenborg & Gouweleeuw (1997), PRAM; the draws are 60 bits of a keyed hash of the record's number
-- reads: relation, ranges
-- returns: row_id, value; records without a value are left out
-- params: relation, ranges, column, stream
WITH drawn AS (
  SELECT
    row_id,
    "town" AS value,
    CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'pram_1.1', ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM "staging"."typed"
)
SELECT
  d.row_id,
  r.target AS value
FROM drawn AS d
JOIN "staging"."ranges" AS r ON d.value = r.source AND d.draw >> 52 = r.bin AND d.draw >= r.low AND d.draw < r.high
