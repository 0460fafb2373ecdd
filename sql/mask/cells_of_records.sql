-- title: The combination of values that every record has, by its number, with its weight
-- source: sqlmicro; a weight that is missing, NaN or infinite is 0, as in audit/cells.sql
-- reads: relation, cells
-- returns: in the order of row_id: row_id, cell, weight
-- params: relation, cells, columns, weights (none, or a column)
SELECT
  r.row_id,
  c.cell
{% for column in weights %}
  , CASE WHEN isfinite(CAST(r.{{ column | ident }} AS DOUBLE)) THEN CAST(r.{{ column | ident }} AS DOUBLE) ELSE 0
    END AS weight
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
ORDER BY r.row_id
