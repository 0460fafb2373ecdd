-- title: The records that are drawn, each by itself
-- source: Bernoulli sampling (Särndal, Swensson & Wretman 1992, section 3.2): whoever draws a number below the share, however
--   many others there are; the weight is the inverse of the share
-- reads: drawn (with draw_1)
-- returns: row_id, the weight
-- params: drawn, high (the numbers of 60 bits below it are drawn), share, weight
SELECT
  row_id,
  1 / {{ share | lit }} AS {{ weight | ident }}
FROM {{ drawn | ident }}
WHERE draw_1 < {{ high | lit }}
