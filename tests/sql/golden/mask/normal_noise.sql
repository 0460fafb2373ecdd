-- title: The values with normal noise added, scaled and shifted
-- source: Kim (1986); Brand (2002). A deviate is made of the 60 bits of a draw: 32 for its radius, 28 for its angle
--   (Box & Muller 1958)
-- reads: drawn
-- returns: row_id, the columns: factor x (value + the sum of weight x deviate) + shift
-- params: drawn, draws, terms (column, factor, shift, weights, one for every draw)
WITH deviates AS (
  SELECT
    *
    , sqrt(-2e0 * ln((("draw_1" >> 28) + 0.5e0) / 4294967296e0))
      * cos(("draw_1" & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_1
    , sqrt(-2e0 * ln((("draw_2" >> 28) + 0.5e0) / 4294967296e0))
      * cos(("draw_2" & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_2
  FROM "staging"."drawn"
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
