-- title: How many original values lie within some standard deviations of the released ones
-- source: Templ (2006), sdcMicro's dRisk: |x - y| <= s sd, sd of the released column
-- reads: original, released (values, by row_id)
-- returns: column_name, within, records (with a value in both); the column NULL counts records that are within in all
-- params: original, released, columns, sd
WITH found AS (
  SELECT
  {% for column in columns %}
    abs(o.{{ column | ident }} - r.{{ column | ident }})
      <= {{ sd | lit }} * (SELECT stddev_samp({{ column | ident }}) FROM {{ released | ident }}) AS within_{{ loop.index }},
  {% endfor %}
  FROM {{ original | ident }} AS o
  JOIN {{ released | ident }} AS r USING (row_id))
{% for column in columns %}
SELECT {{ column.name | lit }} AS column_name, count(*) FILTER (WHERE within_{{ loop.index }}) AS within, count(within_{{ loop.index }}) AS records
FROM found
UNION ALL
{% endfor %}
SELECT NULL, count(*) FILTER (WHERE true{% for column in columns %} AND within_{{ loop.index }}{% endfor %}), count(*)
FROM found
