-- title: How many rows every published value of a column has, within its stratum
-- source: sqlmicro; as history/rows_of_classes.sql, column by column
-- reads: published (a table or file, under the names of the release)
-- returns: class (a hash of column, stratum and value), rows
-- params: published, parts (a number, columns, and these by how they are hashed: kinds)
{% for part in parts %}
SELECT
  {{ part.kinds | combination(part.number) }} AS class,
  count(*) AS rows
FROM (
  SELECT 0 AS nothing
  {% for column in part.columns %}
    , CAST({{ column.name | ident }} AS {{ column | sqltype }}) AS {{ column | ident }}
  {% endfor %}
  FROM {{ published | ident }})
GROUP BY class
{{ loop | between("UNION ALL") }}
{% endfor %}
