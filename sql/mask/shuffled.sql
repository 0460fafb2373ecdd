-- title: The values of the columns, together, permuted among the records within strata
-- source: sqlmicro: every permutation is equally likely; records with the same columns missing are permuted among
--   themselves
-- reads: relation
-- returns: row_id, the columns
-- params: relation, by, columns, stream
WITH patterns AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id
  {% for column in columns %}
    , {{ column | ident }}
    , {{ column | ident }} IS NULL AS pattern_{{ loop.index }}
  {% endfor %}
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT) AS value
  FROM {{ relation | ident }}
),
seated AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY
      {% for stratum in by %}{{ stratum | ident }}, {% endfor %}
      {% for column in columns %}pattern_{{ loop.index }}, {% endfor %}true ORDER BY row_id) AS seat,
    row_number() OVER (PARTITION BY
      {% for stratum in by %}{{ stratum | ident }}, {% endfor %}
      {% for column in columns %}pattern_{{ loop.index }}, {% endfor %}true ORDER BY value, row_id) AS draw
  FROM patterns
)
SELECT
  a.row_id
{% for column in columns %}
  , b.{{ column | ident }}
{% endfor %}
FROM seated AS a
JOIN seated AS b
  ON
  {% for stratum in by %}
    a.{{ stratum | ident }} IS NOT DISTINCT FROM b.{{ stratum | ident }} AND
  {% endfor %}
  {% for column in columns %}
    a.pattern_{{ loop.index }} = b.pattern_{{ loop.index }} AND
  {% endfor %}
    a.seat = b.draw
