-- title: The values of the classes that a series opens tonight, without means of fewer than k values
-- source: sqlmicro; what is published of a column is about k persons, also where some founders of a class lack a value
-- reads: representatives (label, the columns), founders (row_id, label), relation
-- returns: label, the columns, the means
-- params: representatives, founders, relation, columns (taken as they are), means, k
SELECT
  v.label
{% for column in columns %}
  , v.{{ column | ident }}
{% endfor %}
{% for column in means %}
  , CASE WHEN n.{{ column | ident }} >= {{ k }} THEN v.{{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ representatives | ident }} AS v
JOIN (
  SELECT
    f.label
  {% for column in means %}
    , count(r.{{ column | ident }}) AS {{ column | ident }}
  {% endfor %}
  FROM {{ founders | ident }} AS f
  JOIN {{ relation | ident }} AS r USING (row_id)
  GROUP BY f.label) AS n USING (label)
