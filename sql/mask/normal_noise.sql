-- title: The values with normal noise added, scaled and shifted
-- source: Kim (1986); Brand (2002). A deviate is made of 60 bits of a keyed hash of the record's number: 32 for its
--   radius, 28 for its angle (Box & Muller 1958)
-- reads: relation
-- returns: row_id, the columns: factor x (value + the sum of weight x deviate) + shift
-- params: relation, streams, terms (column, factor, shift, weights, one for every stream)
WITH drawn AS (
  SELECT
    *
  {% for stream in streams %}
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT)
      AS draw_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}
),
deviates AS (
  SELECT
    *
  {% for stream in streams %}
    , sqrt(-2e0 * ln(((draw_{{ loop.index }} >> 28) + 0.5e0) / 4294967296e0))
      * cos((draw_{{ loop.index }} & 268435455) * 6.283185307179586e0 / 268435456e0) AS u_{{ loop.index }}
  {% endfor %}
  FROM drawn
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
