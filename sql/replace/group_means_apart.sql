-- title: The mean of every group in every column, where whole numbers of 128 bits cost more than lists
-- source: as replace/group_means.sql. A group has no value where most of its records have none (--nulls keep); the values
--   are added in ascending order, so that the mean does not depend on the number of threads, and it does not leave the
--   range of its values by a rounding error
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
SELECT
  label
{% for column in columns %}
  , CASE WHEN 2 * count({{ column | ident }}) >= count(*) THEN
      greatest(min(CAST({{ column | ident }} AS DOUBLE)), least(
        list_sum(list_sort(list(CAST({{ column | ident }} AS DOUBLE)) FILTER (WHERE {{ column | ident }} IS NOT NULL)))
        / count({{ column | ident }}),
        max(CAST({{ column | ident }} AS DOUBLE))))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ grouped | ident }}
GROUP BY label
