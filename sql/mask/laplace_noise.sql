-- title: The values within their bounds, with Laplace noise, on a grid
-- source: Dwork et al. (2006); Mironov (2012): rounded to multiples of a power of two not below the scale, so that the
--   low bits of a sum say nothing of its terms. Sign and 59 bits of the deviate are those of the draw
-- reads: drawn
-- returns: row_id, the columns
-- params: drawn, lower, upper, scale, grid, terms (column, draw)
SELECT
  row_id
{% for column, draw in terms %}
  , CASE WHEN {{ column | ident }} IS NOT NULL THEN {{ grid | lit }} * floor((
      greatest({{ lower | lit }}, least({{ upper | lit }}, CAST({{ column | ident }} AS DOUBLE)))
      + CASE WHEN {{ draw | ident }} & 1 = 1 THEN 1 ELSE -1 END * {{ scale | lit }}
        * ln((({{ draw | ident }} >> 1) + 0.5e0) / 576460752303423488e0)
    ) / {{ grid | lit }} + 0.5e0) END AS {{ column | ident }}
{% endfor %}
FROM {{ drawn | ident }}
