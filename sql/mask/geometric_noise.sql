-- title: The whole numbers within their bounds, with two-sided geometric noise
-- source: Ghosh, Roughgarden & Sundararajan (2009): P(z) = (1 - a) / (1 + a) a^|z| with a = exp(-rate). The magnitude
--   is the largest m with u <= P(|z| >= m) = 2 a^m / (1 + a); sign and 59 bits of u are those of the draw
-- reads: drawn
-- returns: row_id, the columns
-- params: drawn, lower, upper, rate, half (half of 1 + a), terms (column, draw)
SELECT
  row_id
{% for column, draw in terms %}
  , CASE WHEN {{ column | ident }} IS NOT NULL THEN
      CAST(greatest({{ lower | lit }}, least({{ upper | lit }}, {{ column | ident }})) AS BIGINT)
      + CASE WHEN {{ draw | ident }} & 1 = 1 THEN 1 ELSE -1 END * CAST(floor(
        -ln({{ half | lit }} * ((({{ draw | ident }} >> 1) + 0.5e0) / 576460752303423488e0))
        / {{ rate | lit }}) AS BIGINT)
    END AS {{ column | ident }}
{% endfor %}
FROM {{ drawn | ident }}
