-- title: The values that utility is measured on: numbers as DOUBLE, days and microseconds since 1970, others as bytes
-- source: sqlmicro: as the methods compute with them; NaN and infinity are no values. What identifies a record in the
--   release and in the original becomes row_id
-- reads: relation
-- returns: the columns, row_id for every list in `keys` (one, or none)
-- params: relation, numeric, dates, timestamps, nominal, keys
SELECT
{% for column in numeric %}
  CASE WHEN isfinite(CAST({{ column.name | ident }} AS DOUBLE)) THEN CAST({{ column.name | ident }} AS DOUBLE) END
    AS {{ column | ident }},
{% endfor %}
{% for column in dates %}
  CASE WHEN isfinite({{ column.name | ident }})
    THEN CAST({{ column.name | ident }} - DATE '1970-01-01' AS DOUBLE) END AS {{ column | ident }},
{% endfor %}
{% for column in timestamps %}
  CASE WHEN isfinite({{ column.name | ident }})
    THEN CAST(epoch_us({{ column.name | ident }}) AS DOUBLE) END AS {{ column | ident }},
{% endfor %}
{% for column in nominal %}
  encode(CAST({{ column.name | ident }} AS VARCHAR)) AS {{ column | ident }},
{% endfor %}
{% for names in keys %}
  { {{ names | listed("'key_{n}': {name}") }}} AS row_id,
{% endfor %}
  1 AS n
FROM {{ relation | ident }}
