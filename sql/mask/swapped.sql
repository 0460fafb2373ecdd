-- title: Values swapped between records that agree in the strata
-- source: Dalenius & Reiss (1982), data swapping. A keyed hash chooses the records; those of a stratum that have the
--   same columns missing pass their values on in a circle of random order
-- reads: relation
-- returns: row_id, the columns
-- params: relation, by, columns, stream, share (as a whole number of 2^-60)
WITH drawn AS (
  SELECT
    {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
    row_id
  {% for column in columns %}
    , {{ column | ident }}
    , {{ column | ident }} IS NULL AS pattern_{{ loop.index }}
  {% endfor %}
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM {{ relation | ident }}
)
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN draw < {{ share | lit }}
      THEN coalesce(lead({{ column | ident }}) OVER around, first_value({{ column | ident }}) OVER around)
      ELSE {{ column | ident }}
    END AS {{ column | ident }}
{% endfor %}
FROM drawn
WINDOW around AS (
  PARTITION BY
    {% for stratum in by %}{{ stratum | ident }}, {% endfor %}
    {% for column in columns %}pattern_{{ loop.index }}, {% endfor %}draw < {{ share | lit }}
  ORDER BY draw, row_id)
