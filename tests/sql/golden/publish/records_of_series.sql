-- title: The rows of a night of a series, in an order that depends on their values and nothing else
-- source: sqlmicro: the order is a keyed hash of the values, so that a night with the same rows as another one has their
--   order too, and rows that stay keep theirs; rows with the same values follow each other. A combination is hashed once,
--   and sorted by a number, the first digits of its hash
-- reads: records
-- returns: the columns under their own names
-- params: records, columns, kinds (columns by how they are hashed)
SELECT
  "c1" AS "net ""income"""
FROM "staging"."records"
JOIN (
  SELECT
    cell,
    CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', cell)), 1, 16)) AS UBIGINT) AS place
  FROM (SELECT DISTINCT CAST(hash("c1", signbit("c1"), true) >> 1 AS BIGINT) AS cell FROM "staging"."records")) AS hashed ON hashed.cell = CAST(hash("c1", signbit("c1"), true) >> 1 AS BIGINT)
ORDER BY hashed.place
