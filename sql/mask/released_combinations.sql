-- title: The combinations that are released, as text
-- source: sqlmicro
-- reads: relation, values (row_id, the columns)
-- returns: the strata, the columns
-- params: relation, values, strata (column, name), columns
SELECT DISTINCT
{% for column, name in strata %}
  CAST(r.{{ column | ident }} AS VARCHAR) AS {{ name | ident }},
{% endfor %}
  {{ columns | listed("CAST(v.{} AS VARCHAR) AS {}") }}
FROM {{ relation | ident }} AS r
JOIN {{ values | ident }} AS v USING (row_id)
ORDER BY ALL
