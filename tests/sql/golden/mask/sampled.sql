-- title: The records that are drawn, without replacement
-- source: simple random sampling within strata (Cochran 1977): the records with the smallest keyed hashes; the weight
--   is the inverse of the inclusion probability, N_h/n_h
-- reads: relation, sizes
-- returns: row_id, the weight
-- params: relation, sizes, by, stream, weight
WITH drawn AS (
  SELECT
"land", 
    row_id,
    CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'sample_1.1', ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM "staging"."typed"
),
placed AS (
  SELECT
    d.row_id,
    s.records,
    s.size,
    row_number() OVER (
      PARTITION BY d."land", true ORDER BY d.draw, d.row_id) AS position
  FROM drawn AS d
  JOIN "staging"."sizes" AS s
    ON d."land" IS NOT DISTINCT FROM s."land" AND 
    d.draw < s.high
)
SELECT
  row_id,
  records / size AS "w"
FROM placed
WHERE position <= size
