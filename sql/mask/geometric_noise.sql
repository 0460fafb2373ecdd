-- title: The whole numbers within their bounds, with two-sided geometric noise
-- source: Ghosh, Roughgarden & Sundararajan (2009): P(z) = (1 - a) / (1 + a) a^|z| with a = exp(-rate). The magnitude
--   is the largest m with u <= P(|z| >= m) = 2 a^m / (1 + a); sign and 59 bits of u are those of a keyed hash
-- reads: relation
-- returns: row_id, the columns
-- params: relation, lower, upper, rate, half (half of 1 + a), terms (column, stream)
WITH drawn AS (
  SELECT
    *
  {% for column, stream in terms %}
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT)
      AS draw_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}
)
SELECT
  row_id
{% for column, stream in terms %}
  , CASE WHEN {{ column | ident }} IS NOT NULL THEN
      CAST(greatest({{ lower | lit }}, least({{ upper | lit }}, {{ column | ident }})) AS BIGINT)
      + CASE WHEN draw_{{ loop.index }} & 1 = 1 THEN 1 ELSE -1 END * CAST(floor(
        -ln({{ half | lit }} * (((draw_{{ loop.index }} >> 1) + 0.5e0) / 576460752303423488e0))
        / {{ rate | lit }}) AS BIGINT)
    END AS {{ column | ident }}
{% endfor %}
FROM drawn
