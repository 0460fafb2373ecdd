-- title: How many rows every published combination of values has
-- source: sqlmicro; read from what was written, in the types of the release, whatever a file made of them
-- reads: published (a table or file, under the names of the release)
-- returns: class (a hash of the combination), rows
-- params: published, columns, kinds (columns by how they are hashed)
SELECT
  {{ kinds | combination }} AS class,
  count(*) AS rows
FROM (
  SELECT 0 AS nothing
  {% for column in columns %}
    , CAST({{ column.name | ident }} AS {{ column | sqltype }}) AS {{ column | ident }}
  {% endfor %}
  FROM {{ published | ident }})
GROUP BY class
