-- title: The box of every group as text: its stratum, and its range or set in every column
-- source: LeFevre, DeWitt & Ramakrishnan (2006); the ends are those of the released ranges
-- reads: groups (row_id, label), relation, and per range the relation that it was released from
-- returns: the strata, and per column low, high and whether values are missing; of a set the values stand for low
-- params: groups, relation, strata (column, name), ranges (relation, low, high, missing), sets (column, low, high, missing),
--   order (low, high, missing)
WITH boxes AS (
  SELECT
    g.label
  {% for column, name in strata %}
    , CAST(min(r.{{ column | ident }}) AS VARCHAR) AS {{ name | ident }}
  {% endfor %}
  {% for column, low, high, missing in sets %}
    , list_sort(list(DISTINCT CAST(r.{{ column | ident }} AS VARCHAR)) FILTER (WHERE r.{{ column | ident }} IS NOT NULL))
      AS {{ low | ident }}
    , NULL AS {{ high | ident }}
    , count(*) > count(r.{{ column | ident }}) AS {{ missing | ident }}
  {% endfor %}
  FROM {{ groups | ident }} AS g
  JOIN {{ relation | ident }} AS r USING (row_id)
  GROUP BY g.label
)
SELECT
  {{ strata | listed("{2}, ") }}
  {{ order | listed("{1}, {2}, {3}") }}
FROM boxes AS b
{% for relation, low, high, missing in ranges %}
JOIN (SELECT label, low AS {{ low | ident }}, high AS {{ high | ident }}, nothing AS {{ missing | ident }} FROM {{ relation | ident }})
  USING (label)
{% endfor %}
ORDER BY b.label
