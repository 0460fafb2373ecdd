-- title: The rows of a night of a series whose columns have classes of their own
-- source: sqlmicro; a row stays as it was published, whether its person was read tonight, was not, or has left
-- reads: tonight (row, row_id: of the persons who were read), kept and opened (row, classes), kept_texts and texts (class,
--   column_name, value), relation
-- returns: row_id (behind those that were read for the others), record (0 for the others), the columns
-- params: tonight, kept, opened, kept_texts, texts, relation, read (how many records were read), columns (alias, place,
--   column)
WITH classes AS (
  SELECT row, classes FROM {{ kept | ident }}
  UNION ALL
  SELECT row, classes FROM {{ opened | ident }}
), told AS (
  SELECT class, column_name, value FROM {{ kept_texts | ident }}
  UNION ALL
  SELECT class, column_name, value FROM {{ texts | ident }}
)
SELECT
  coalesce(t.row_id, {{ read | lit }} + c.row) AS row_id,
  coalesce(t.record, CAST(0 AS UBIGINT)) AS record
{% for alias, place, column in columns %}
  , {{ alias | ident }}.value AS {{ column | ident }}
{% endfor %}
FROM classes AS c
LEFT JOIN (
  SELECT n.row, n.row_id, r.record
  FROM {{ tonight | ident }} AS n
  JOIN {{ relation | ident }} AS r ON n.row_id = r.row_id) AS t ON c.row = t.row
{% for alias, place, column in columns %}
JOIN (
  SELECT class, CAST(value AS {{ column | sqltype }}) AS value
  FROM told
  WHERE column_name = {{ column.name | lit }}) AS {{ alias | ident }} ON {{ alias | ident }}.class = c.classes[{{ place | lit }}]
{% endfor %}
