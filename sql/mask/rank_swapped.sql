-- title: Every value of a column given to a record whose rank is not far away
-- source: Moore (1996), rank swapping. The sorted values are cut into equally long blocks, the first one shorter by a random
--   share of up to a half, none longer than the greatest distance allows; in a block the values move on by one record in a
--   random order, so that every value is used exactly once and none stays where it was
-- reads: relation
-- returns: row_id, value; records without a value are left out
-- params: relation, by, column, stream, percent (of the records of a stratum), edge (a stream for the blocks)
WITH ranked AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id,
    {{ column | ident }} AS value,
    row_number() OVER (
      PARTITION BY {% for stratum in by %}{{ stratum | ident }}, {% endfor %}true ORDER BY {{ column | ident }}, row_id
    ) - 1 AS position,
    count(*) OVER (PARTITION BY {% for stratum in by %}{{ stratum | ident }}, {% endfor %}true) AS n,
    CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ edge | lit }})), 8)) AS BIGINT) / 8589934592e0 AS phase
  FROM {{ relation | ident }}
  WHERE {{ column | ident }} IS NOT NULL
),
blocks AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id,
    value,
    floor(position * (ceil(n / (floor(n * {{ percent | lit }} / 100) + 0.999e0) + phase) - phase) / n + phase) AS block,
    CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM ranked
)
SELECT
  row_id,
  coalesce(lead(value) OVER around, first_value(value) OVER around) AS value
FROM blocks
WINDOW around AS (
  PARTITION BY {% for stratum in by %}{{ stratum | ident }}, {% endfor %}block ORDER BY draw, row_id)
