-- title: Quantiles of numeric columns that are the value of no single record
-- source: sqlmicro: the mean of the k values around the rank of the quantile; NULL where one of them is among the k
--   smallest or the k largest
-- reads: relation (values)
-- returns: column_name, level, value (NULL where it is left out); a column without values has no row
-- params: relation, columns, levels, k
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  level,
  CASE WHEN low > {{ k }} AND low + {{ k - 1 }} <= total - {{ k }} THEN avg(value ORDER BY position) END AS value
FROM (
  SELECT
    value,
    position,
    level,
    total,
    CAST(floor(level * (total - 1) + 1 - {{ k - 1 }} / 2.0 + 0.5) AS BIGINT) AS low
  FROM (
    SELECT
      {{ column | ident }} AS value,
      row_number() OVER (ORDER BY {{ column | ident }}) AS position,
      count(*) OVER () AS total
    FROM {{ relation | ident }}
    WHERE {{ column | ident }} IS NOT NULL)
  CROSS JOIN (SELECT unnest(CAST({{ levels | lit }} AS DOUBLE[])) AS level))
WHERE position BETWEEN low AND low + {{ k - 1 }}
GROUP BY level, low, total
{{ loop | between("UNION ALL") }}
{% endfor %}
