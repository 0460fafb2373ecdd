-- title: Into how many blocks the sorted values of every stratum are cut
-- source: sqlmicro. All blocks are equally long but for the first and the last one, which a share drawn from 0 to 1/2
--   is cut off, so that the places of all depend on the key; none has more records than the greatest distance of ranks
--   plus one
-- reads: ordered
-- returns: the strata, first_position, n, phase and remainder (the shares that are cut off), total (blocks, these less)
-- params: ordered, by, stream (variable with the key), percent (greatest distance, of n)
WITH strata AS (
  SELECT
    "land", 
    min(rowid) AS first_position,
    count(*) AS n,
    sha256(concat(getvariable('sqlmicro_order'), ' blocks')) AS value
  FROM "staging"."ordered"
  GROUP BY ALL
)
SELECT
  "land", 
  first_position,
  n,
  CAST(concat('0x', left(value, 8)) AS BIGINT) / 8589934592e0 AS phase,
  CAST(concat('0x', substr(value, 9, 8)) AS BIGINT) / 8589934592e0 AS remainder,
  ceil(n / (floor(n * 30.0 / 100) + 0.999e0) + phase + remainder) - phase - remainder AS total
FROM strata
