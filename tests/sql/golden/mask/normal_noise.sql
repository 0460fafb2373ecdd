-- title: The values with normal noise added, scaled and shifted
-- source: Kim (1986); Brand (2002). A deviate is made of 60 bits of a keyed hash of the record's number: 32 for its
--   radius, 28 for its angle (Box & Muller 1958)
-- reads: relation
-- returns: row_id, the columns: factor x (value + the sum of weight x deviate) + shift
-- params: relation, streams, terms (column, factor, shift, weights, one for every stream)
WITH drawn AS (
  SELECT
    *
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'noise_1.1', ' ', row_id)), 15)) AS BIGINT)
      AS draw_1
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'noise_1.2', ' ', row_id)), 15)) AS BIGINT)
      AS draw_2
  FROM "staging"."typed"
),
deviates AS (
  SELECT
    *
    , sqrt(-2e0 * ln(((draw_1 >> 28) + 0.5e0) / 4294967296e0))
      * cos((draw_1 & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_1
    , sqrt(-2e0 * ln(((draw_2 >> 28) + 0.5e0) / 4294967296e0))
      * cos((draw_2 & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_2
  FROM drawn
)
SELECT
  row_id
  , 2.0 * (CAST("x" AS DOUBLE)
    + 3.0 * u_1
    + 0.0 * u_2
  ) + 1.0 AS "x"
  , 2.0 * (CAST("net ""income""" AS DOUBLE)
    + 1.0 * u_1
    + 0.5 * u_2
  ) + 0.0 AS "net ""income"""
FROM deviates
