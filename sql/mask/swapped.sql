-- title: Values swapped between records that agree in the strata
-- source: Dalenius & Reiss (1982), data swapping. Random numbers choose the records; those of a stratum that have the
--   same columns missing pass their values on in a circle of random order
-- reads: drawn (with draw_1)
-- returns: row_id, the columns
-- params: drawn, by, columns, share (as a whole number of 2^-60)
WITH patterns AS (
  SELECT
    {{ by | listed("{}, ") }}
    row_id
  {% for column in columns %}
    , {{ column | ident }}
    , {{ column | ident }} IS NULL AS pattern_{{ loop.index }}
  {% endfor %}
    , draw_1 AS draw
  FROM {{ drawn | ident }}
)
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN draw < {{ share | lit }}
      THEN coalesce(lead({{ column | ident }}) OVER around, first_value({{ column | ident }}) OVER around)
      ELSE {{ column | ident }}
    END AS {{ column | ident }}
{% endfor %}
FROM patterns
WINDOW around AS (
  PARTITION BY
    {{ by | listed("{}, ") }}
    {{ columns | listed("pattern_{n}, ") }}draw < {{ share | lit }}
  ORDER BY draw, row_id)
