-- title: The mean of every group in every column
-- source: Defays & Nanopoulos (1993). A group has no value where most of its records have none (--nulls keep). The sum does
--   not depend on the number of threads: numbers are counted in a power of two that divides all of a column, where 2^126
--   of it are more than all records have together, which adds them exactly in whatever order; numbers that differ by more,
--   as a placeholder of 1e38 among incomes does, are added in ascending order. A mean does not leave the range of its
--   values by a rounding error
-- reads: grouped
-- returns: label, a mean per column
-- params: grouped, columns
WITH bounds AS (
  SELECT
    count(*) + 1 AS records
  {% for column in columns %}
    , coalesce(min(abs(CAST({{ column | ident }} AS DOUBLE))) FILTER (WHERE {{ column | ident }} <> 0), 1) AS least_{{ loop.index }}
    , coalesce(max(abs(CAST({{ column | ident }} AS DOUBLE))) FILTER (WHERE {{ column | ident }} <> 0), 1) AS most_{{ loop.index }}
  {% endfor %}
  FROM {{ grouped | ident }}
),
wholes AS (
  SELECT
    records
  {% for column in columns %}
    , CASE WHEN least_{{ loop.index }} > 1e-250
      AND log2(most_{{ loop.index }}) - log2(least_{{ loop.index }}) + log2(records) < 68
      THEN pow(2, 54 - floor(log2(least_{{ loop.index }}))) END AS per_one_{{ loop.index }}
  {% endfor %}
  FROM bounds
)
SELECT
  g.label
{% for column in columns %}
  , CASE WHEN 2 * count(g.{{ column | ident }}) >= count(*) THEN
      greatest(min(CAST(g.{{ column | ident }} AS DOUBLE)), least(
        coalesce(
          CAST(sum(CAST(CAST(g.{{ column | ident }} AS DOUBLE) * w.per_one_{{ loop.index }} AS HUGEINT)) AS DOUBLE)
            / any_value(w.per_one_{{ loop.index }}),
          list_sum(list_sort(list(CAST(g.{{ column | ident }} AS DOUBLE))
            FILTER (WHERE w.per_one_{{ loop.index }} IS NULL AND g.{{ column | ident }} IS NOT NULL))))
        / count(g.{{ column | ident }}),
        max(CAST(g.{{ column | ident }} AS DOUBLE))))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ grouped | ident }} AS g
CROSS JOIN wholes AS w
GROUP BY g.label
