-- title: The median of every group in every column
-- source: Domingo-Ferrer & Torra (2005). A group has no value where most of its records have none (--nulls keep)
-- reads: grouped
-- returns: label, a median per column
-- params: grouped, columns
SELECT
  label
{% for column in columns %}
  , CASE WHEN 2 * count({{ column | ident }}) >= count(*) THEN
      median(CAST({{ column | ident }} AS DOUBLE))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ grouped | ident }}
GROUP BY label
