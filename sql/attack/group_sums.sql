-- title: How many values the other members of a group can compute from its mean
-- source: f mean - sum of the others is off by |f mean - sum of all|, for every member alike
-- reads: original, released (values, by row_id)
-- returns: column_name, recovered (values off by at most so many standard deviations of the original), records (with a
--   value in both tables, in groups where all have one)
-- params: original, released, columns (column, the columns that a group has in common), within
{% for column, group in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(f) FILTER (WHERE error <= {{ within | lit }} * coalesce(sd, 0)), 0) AS BIGINT) AS recovered,
  CAST(coalesce(sum(f), 0) AS BIGINT) AS records
FROM (
  SELECT
    count(*) AS f,
    abs(sum(o.{{ column | ident }} - r.{{ column | ident }})) AS error
  FROM {{ released | ident }} AS r
  JOIN {{ original | ident }} AS o USING (row_id)
  GROUP BY {{ group | listed("r.{}") }}
  HAVING count(*) = count(o.{{ column | ident }} - r.{{ column | ident }})),
  (SELECT stddev_samp({{ column | ident }}) AS sd FROM {{ original | ident }})
{{ loop | between("UNION ALL") }}
{% endfor %}
