-- title: How far the released values are from the original ones, in standard deviations
-- source: Mateo-Sanz, Sebe & Domingo-Ferrer (2004); sdcMicro's IL1s: |x - y| / (sqrt(2) sd), sd of the original column
-- reads: original, released (values, by row_id)
-- returns: column_name, total, records (with a value in both); 0 for a column that does not vary
-- params: original, released, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  coalesce(sum(abs(o.{{ column | ident }} - r.{{ column | ident }})) / nullif(sqrt(2)
    * (SELECT stddev_samp({{ column | ident }}) FROM {{ original | ident }}), 0), 0) AS total,
  count(o.{{ column | ident }} - r.{{ column | ident }}) AS records
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS r USING (row_id)
{{ loop | between("UNION ALL") }}
{% endfor %}
