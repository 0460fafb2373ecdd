-- title: The whole numbers within their bounds, with two-sided geometric noise
-- source: Ghosh, Roughgarden & Sundararajan (2009): P(z) = (1 - a) / (1 + a) a^|z| with a = exp(-rate). The magnitude
--   is the largest m with u <= P(|z| >= m) = 2 a^m / (1 + a); sign and 59 bits of u are those of the draw
-- reads: drawn
-- returns: row_id, the columns
-- params: drawn, lower, upper, rate, half (half of 1 + a), terms (column, draw)
SELECT
  row_id
  , CASE WHEN "net ""income""" IS NOT NULL THEN
      CAST(greatest(0, least(10, "net ""income""")) AS BIGINT)
      + CASE WHEN "draw_1" & 1 = 1 THEN 1 ELSE -1 END * CAST(floor(
        -ln(0.8032653298563167 * ((("draw_1" >> 1) + 0.5e0) / 576460752303423488e0))
        / 0.5) AS BIGINT)
    END AS "net ""income"""
  , CASE WHEN "age" IS NOT NULL THEN
      CAST(greatest(0, least(10, "age")) AS BIGINT)
      + CASE WHEN "draw_2" & 1 = 1 THEN 1 ELSE -1 END * CAST(floor(
        -ln(0.8032653298563167 * ((("draw_2" >> 1) + 0.5e0) / 576460752303423488e0))
        / 0.5) AS BIGINT)
    END AS "age"
FROM "staging"."drawn"
