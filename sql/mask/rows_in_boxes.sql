-- title: The records that are in a box, with what its values are released as
-- source: LeFevre, DeWitt & Ramakrishnan (2006); sqlmicro: a record in no box is left out, its values are not guessed
-- reads: relation, boxes
-- returns: row_id, the columns as text
-- params: relation, boxes, several (boxes that follow each other are looked at together first), strata (column, name),
--   ranges (column, low, high, missing), sets (column, set, missing), columns (column, label)
WITH blocks AS (
  SELECT
    b.box // {{ several | lit }} AS block
  {% for column, low, high, missing in ranges %}
    , min(b.{{ low | ident }}) AS {{ low | ident }}
    , max(b.{{ high | ident }}) AS {{ high | ident }}
    , bool_or(b.{{ missing | ident }}) AS {{ missing | ident }}
  {% endfor %}
  {% for column, set, missing in sets %}
    , list_distinct(flatten(list(b.{{ set | ident }}))) AS {{ set | ident }}
    , bool_or(b.{{ missing | ident }}) AS {{ missing | ident }}
  {% endfor %}
  FROM {{ boxes | ident }} AS b
  GROUP BY block
)
SELECT
  r.row_id
{% for column, label in columns %}
  , b.{{ label | ident }} AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN blocks AS s
  ON true
{% for column, low, high, missing in ranges %}
    AND (r.{{ column | ident }} BETWEEN s.{{ low | ident }} AND s.{{ high | ident }}
      OR r.{{ column | ident }} IS NULL AND s.{{ missing | ident }})
{% endfor %}
{% for column, set, missing in sets %}
    AND (list_contains(s.{{ set | ident }}, CAST(r.{{ column | ident }} AS VARCHAR))
      OR r.{{ column | ident }} IS NULL AND s.{{ missing | ident }})
{% endfor %}
JOIN {{ boxes | ident }} AS b
  ON b.box // {{ several | lit }} = s.block
{% for column, name in strata %}
    AND CAST(r.{{ column | ident }} AS VARCHAR) IS NOT DISTINCT FROM b.{{ name | ident }}
{% endfor %}
{% for column, low, high, missing in ranges %}
    AND (r.{{ column | ident }} BETWEEN b.{{ low | ident }} AND b.{{ high | ident }}
      OR r.{{ column | ident }} IS NULL AND b.{{ missing | ident }})
{% endfor %}
{% for column, set, missing in sets %}
    AND (list_contains(b.{{ set | ident }}, CAST(r.{{ column | ident }} AS VARCHAR))
      OR r.{{ column | ident }} IS NULL AND b.{{ missing | ident }})
{% endfor %}
