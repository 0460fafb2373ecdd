-- title: The mean of every group in every column
-- source: Defays & Nanopoulos (1993). A group has no value where most of its records have none (--nulls keep); the values
--   are added in ascending order, so that the mean does not depend on the number of threads
-- reads: groups, relation
-- returns: label, a mean per column
-- params: groups, relation, columns
SELECT
  g.label
{% for column in columns %}
  , CASE WHEN 2 * count(r.{{ column | ident }}) >= count(*) THEN
      list_sum(list_sort(list(CAST(r.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.{{ column | ident }} IS NOT NULL)))
      / count(r.{{ column | ident }})
    END AS {{ column | ident }}
{% endfor %}
FROM {{ groups | ident }} AS g
JOIN {{ relation | ident }} AS r USING (row_id)
GROUP BY g.label
