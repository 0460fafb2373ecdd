-- title: The values with normal noise added, scaled and shifted
-- source: Kim (1986); Brand (2002). A deviate is made of the 60 bits of a draw: 32 for its radius, 28 for its angle
--   (Box & Muller 1958)
-- reads: drawn
-- returns: row_id, the columns: factor x (value + the sum of weight x deviate) + shift
-- params: drawn, draws, terms (column, factor, shift, weights, one for every draw)
WITH deviates AS (
  SELECT
    *
  {% for draw in draws %}
    , sqrt(-2e0 * ln((({{ draw | ident }} >> 28) + 0.5e0) / 4294967296e0))
      * cos(({{ draw | ident }} & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ drawn | ident }}
)
SELECT
  row_id
{% for column, factor, shift, weights in terms %}
  , {{ factor | lit }} * (CAST({{ column | ident }} AS DOUBLE)
  {% for weight in weights %}
    + {{ weight | lit }} * u_{{ loop.index }}
  {% endfor %}
  ) + {{ shift | lit }} AS {{ column | ident }}
{% endfor %}
FROM deviates
