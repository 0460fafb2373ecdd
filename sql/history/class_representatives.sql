-- title: The values of the classes of a series, of those that are remembered and of those opened tonight
-- source: sqlmicro
-- reads: remembered, opened (class, column_name, value as text)
-- returns: label, the columns in the types of staging
-- params: remembered, opened, columns (name in staging, type)
SELECT
  class AS label
{% for column in columns %}
  , CAST(max(value) FILTER (WHERE column_name = {{ column.name | lit }}) AS {{ column | sqltype }}) AS {{ column | ident }}
{% endfor %}
FROM (SELECT class, column_name, value FROM {{ remembered | ident }} UNION ALL SELECT class, column_name, value FROM {{ opened | ident }})
GROUP BY class
