-- title: The values of a column, each from the record that it comes from
-- source: Dalenius & Reiss (1982), data swapping
-- reads: relation, sources (row_id, source: the row_id the value comes from)
-- returns: row_id, value
-- params: relation, sources, column
SELECT
  s.row_id,
  r.{{ column | ident }} AS value
FROM {{ sources | ident }} AS s
JOIN {{ relation | ident }} AS r ON r.row_id = s.source
