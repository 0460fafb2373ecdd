-- title: How far the distribution of every numeric column in the release is from that in the original
-- source: Vallender (1974): Earth Mover's (Wasserstein) distance, the area between the cumulated shares, in standard
--   deviations of the original; missing values take no part
-- reads: original, released (values)
-- returns: column_name, distance (0 for a column that does not vary)
-- params: original, released, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  coalesce(sum(width * abs(before / (SELECT count({{ column | ident }}) FROM {{ original | ident }})
    - after / (SELECT count({{ column | ident }}) FROM {{ released | ident }})))
    / nullif((SELECT stddev_samp({{ column | ident }}) FROM {{ original | ident }}), 0), 0) AS distance
FROM (
  SELECT
    lead({{ column | ident }}) OVER (ORDER BY {{ column | ident }}) - {{ column | ident }} AS width,
    sum(sum(before)) OVER (ORDER BY {{ column | ident }}) AS before,
    sum(sum(after)) OVER (ORDER BY {{ column | ident }}) AS after
  FROM (
    SELECT {{ column | ident }}, 1 AS before, 0 AS after FROM {{ original | ident }}
    UNION ALL
    SELECT {{ column | ident }}, 0, 1 FROM {{ released | ident }})
  WHERE {{ column | ident }} IS NOT NULL
  GROUP BY {{ column | ident }})
{{ loop | between("UNION ALL") }}
{% endfor %}
