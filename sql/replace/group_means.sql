-- title: The mean of every group in every column
-- source: Defays & Nanopoulos (1993). A group has no value where most of its records have none (--nulls keep); the values
--   are added in ascending order, so that the mean does not depend on the number of threads
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
SELECT
  label
{% for column in columns %}
  , CASE WHEN 2 * count({{ column | ident }}) >= count(*) THEN
      list_sum(list_sort(list(CAST({{ column | ident }} AS DOUBLE)) FILTER (WHERE {{ column | ident }} IS NOT NULL)))
      / count({{ column | ident }})
    END AS {{ column | ident }}
{% endfor %}
FROM {{ grouped | ident }}
GROUP BY label
