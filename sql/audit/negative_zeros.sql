-- title: How many negative zeros each column of floating-point numbers has
-- source: IEEE 754: -0.0 = 0.0, but both are written differently
-- reads: relation
-- returns: column_name, zeros
-- params: relation, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (WHERE {{ column.name | ident }} = 0 AND signbit({{ column.name | ident }})) AS zeros
FROM {{ relation | ident }}
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
