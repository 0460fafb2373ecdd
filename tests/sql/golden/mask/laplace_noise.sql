-- title: The values within their bounds, with Laplace noise, on a grid
-- source: Dwork et al. (2006); Mironov (2012): rounded to multiples of a power of two not below the scale, so that the
--   low bits of a sum say nothing of its terms. Sign and 59 bits of the deviate are those of the draw
-- reads: drawn
-- returns: row_id, the columns
-- params: drawn, lower, upper, scale, grid, terms (column, draw)
SELECT
  row_id
  , CASE WHEN "x" IS NOT NULL THEN 8.0 * floor((
      greatest(0.0, least(10.0, CAST("x" AS DOUBLE)))
      + CASE WHEN "draw_1" & 1 = 1 THEN 1 ELSE -1 END * 5.0
        * ln((("draw_1" >> 1) + 0.5e0) / 576460752303423488e0)
    ) / 8.0 + 0.5e0) END AS "x"
  , CASE WHEN "net ""income""" IS NOT NULL THEN 8.0 * floor((
      greatest(0.0, least(10.0, CAST("net ""income""" AS DOUBLE)))
      + CASE WHEN "draw_2" & 1 = 1 THEN 1 ELSE -1 END * 5.0
        * ln((("draw_2" >> 1) + 0.5e0) / 576460752303423488e0)
    ) / 8.0 + 0.5e0) END AS "net ""income"""
FROM "staging"."drawn"
