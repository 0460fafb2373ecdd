-- title: The median of every group in every column
-- source: Domingo-Ferrer & Torra (2005). A group has no value where most of its records have none (--nulls keep)
-- reads: groups, relation
-- returns: label, a median per column
-- params: groups, relation, columns
SELECT
  g.label
{% for column in columns %}
  , CASE WHEN 2 * count(r.{{ column | ident }}) >= count(*) THEN
      median(CAST(r.{{ column | ident }} AS DOUBLE))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ groups | ident }} AS g
JOIN {{ relation | ident }} AS r USING (row_id)
GROUP BY g.label
