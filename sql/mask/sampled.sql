-- title: The records that are drawn, without replacement
-- source: simple random sampling within strata (Cochran 1977): the records with the smallest keyed hashes; the weight
--   is the inverse of the inclusion probability, N_h/n_h
-- reads: relation, sizes
-- returns: row_id, the weight
-- params: relation, sizes, by, stream, weight
WITH drawn AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id,
    CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM {{ relation | ident }}
),
placed AS (
  SELECT
    d.row_id,
    s.records,
    s.size,
    row_number() OVER (
      PARTITION BY {% for stratum in by %}d.{{ stratum | ident }}, {% endfor %}true ORDER BY d.draw, d.row_id) AS position
  FROM drawn AS d
  JOIN {{ sizes | ident }} AS s
    ON {% for stratum in by %}d.{{ stratum | ident }} IS NOT DISTINCT FROM s.{{ stratum | ident }} AND {% endfor +%}
    d.draw < s.high
)
SELECT
  row_id,
  records / size AS {{ weight | ident }}
FROM placed
WHERE position <= size
