-- title: The values of the classes that a series opens tonight, with their stratum
-- source: sqlmicro; all founders of a class are of one stratum
-- reads: representatives (label, the columns), founders (row_id, label), relation
-- returns: label, the columns, the strata
-- params: representatives, founders, relation, columns, strata
SELECT
  v.label
{% for column in columns %}
  , v.{{ column | ident }}
{% endfor %}
{% for column in strata %}
  , s.{{ column | ident }}
{% endfor %}
FROM {{ representatives | ident }} AS v
JOIN (
  SELECT DISTINCT
    f.label
  {% for column in strata %}
    , r.{{ column | ident }}
  {% endfor %}
  FROM {{ founders | ident }} AS f
  JOIN {{ relation | ident }} AS r USING (row_id)) AS s USING (label)
