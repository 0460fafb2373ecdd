-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none. Values are added as in
--   replace/group_means.sql: exactly, as whole numbers of a power of two, or else in the order of the cells; so a mean does not
--   depend on the number of threads. It does not leave the range of its values
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
WITH bounds AS (
  SELECT
    count(*) AS cells,
    (SELECT CAST(sum(n) AS DOUBLE) + 1 FROM {{ members | ident }}) AS records
  {% for column in columns %}
    , coalesce(min(abs(CAST({{ column | ident }} AS DOUBLE))) FILTER (WHERE {{ column | ident }} <> 0), 1) AS least_{{ loop.index }}
    , coalesce(max(abs(CAST({{ column | ident }} AS DOUBLE))) FILTER (WHERE {{ column | ident }} <> 0), 1) AS most_{{ loop.index }}
  {% endfor %}
  FROM {{ cells | ident }}
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
  m.label,
  sum(m.n) AS n
{% for column in columns %}
  , CASE WHEN 2 * sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL) >= sum(m.n) THEN
      greatest(min(CAST(c.{{ column | ident }} AS DOUBLE)), least(
        coalesce(
          CAST(sum(CAST(m.n * CAST(c.{{ column | ident }} AS DOUBLE) * w.per_one_{{ loop.index }} AS HUGEINT)) AS DOUBLE)
            / any_value(w.per_one_{{ loop.index }}),
          list_sum(list(m.n * CAST(c.{{ column | ident }} AS DOUBLE) ORDER BY c.cell)
            FILTER (WHERE w.per_one_{{ loop.index }} IS NULL AND c.{{ column | ident }} IS NOT NULL)))
        / sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL),
        max(CAST(c.{{ column | ident }} AS DOUBLE))))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ members | ident }} AS m
JOIN {{ cells | ident }} AS c USING (cell)
CROSS JOIN wholes AS w
GROUP BY m.label
