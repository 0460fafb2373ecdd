-- title: The values of every published combination that no earlier night of a series has shown, as texts
-- source: sqlmicro; numbered as in rows_of_classes.sql
-- reads: published (a table or file, under the names of the release), known (class)
-- returns: class, column_name (of staging), value
-- params: published, known, columns, kinds (columns by how they are hashed)
WITH combinations AS (
  SELECT
    {{ kinds | combination }} AS class
  {% for column in columns %}
    , any_value({{ column | ident }}) AS {{ column | ident }}
  {% endfor %}
  FROM (
    SELECT 0 AS nothing
    {% for column in columns %}
      , CAST({{ column.name | ident }} AS {{ column | sqltype }}) AS {{ column | ident }}
    {% endfor %}
    FROM {{ published | ident }})
  GROUP BY class
)
SELECT class, '' AS column_name, '' AS value
FROM combinations
WHERE false
{% for column in columns %}
UNION ALL
SELECT class, {{ column.staged | lit }}, CAST({{ column | ident }} AS VARCHAR)
FROM combinations
WHERE class NOT IN (SELECT class FROM {{ known | ident }})
{% endfor %}
