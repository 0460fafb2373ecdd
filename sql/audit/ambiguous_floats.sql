-- title: How many values of each column of floating-point numbers equal others that are written differently
-- source: IEEE 754: -0.0 = 0.0; in DuckDB every NaN equals every other, whatever its sign and payload
-- reads: relation
-- returns: column_name, ambiguous
-- params: relation, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (
    WHERE isnan({{ column.name | ident }}) OR ({{ column.name | ident }} = 0 AND signbit({{ column.name | ident }}))) AS ambiguous
FROM {{ relation | ident }}
{{ loop | between("UNION ALL") }}
{% endfor %}
